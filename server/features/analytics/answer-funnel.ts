// Answers a question about the funnel: counts clicks, visits and leads with the same filters.

import { toIso } from '../../lib/iso-time.ts'
import { toNullLabel } from '../../storage/filter-grammar.ts'
import type { HitOutcome } from '../../storage/hits/hit.ts'
import type { HitGrouping, HitSelection } from '../../storage/hits/hit-engine.ts'
import { askHits } from './answer-clicks.ts'
import { type LeadContext, loadGroupNames, resolveLeadSelection } from './answer-leads.ts'
import { countLeads, type LeadGrouping, type LeadSelection } from './count-leads.ts'
import { countOutcomes, type OutcomeCounts } from './count-outcomes.ts'
import type { AnswerMoney, FunnelAnswerData, FunnelQuestion } from './leads-schema.ts'
import { loadLinkTags } from './names.ts'
import type { WorkspaceScope } from './resolve-selection.ts'

type Key = string | number
type Column = Exclude<FunnelQuestion['groupBy'], 'total'>

/** The groups with these keys; with `negate`, all other groups. */
interface GroupSubset {
  keys: Key[]
  negate: boolean
}

interface Stage {
  total(): Promise<number>
  /** Sorted by count, highest first. */
  groups(column: Column, subset: GroupSubset, limit: number): Promise<[Key, number][]>
}

type Counts = [clicks: number, visits: number, leads: number, converted: number]

/** @throws Failure `invalid` for an empty range, `unavailable` when the engine cannot answer */
export async function answerFunnel(
  needs: LeadContext,
  actor: WorkspaceScope,
  question: FunnelQuestion,
): Promise<{ data: FunnelAnswerData } & AnswerMoney> {
  const selection = await resolveLeadSelection(needs, actor, question)
  await needs.resolvePendingAttribution(actor.workspaceId)
  const stages = [
    createHitStage(needs, selection, 'redirect'),
    createHitStage(needs, selection, 'landing'),
    createLeadStage(needs, selection),
    // Last, because its groups are all groups of leads.
    createLeadStage(needs, { ...selection, clickedSince: selection.start }),
  ]
  const { groupBy, limit } = question
  const count = (grouping: LeadGrouping) => countOutcomes(needs.db, selection, grouping, question.currency)
  if (groupBy === 'total') {
    const totals = (await Promise.all(stages.map((stage) => stage.total()))) as Counts
    const { get, money } = await count({ by: 'total' })
    needs.noteLeads?.(selection)
    const range = { start: toIso(selection.start), end: toIso(selection.end) }
    return { data: { ...toFunnelRow(totals, get(null)), ...range }, ...money }
  }
  const groups = await listGroups(stages, groupBy, limit)
  const outcomes = await count({ by: groupBy, limit })
  needs.noteLeads?.(selection)
  // Groups that have nothing but outcomes in the range come last.
  const listed = new Set(groups.map(([key]) => key))
  for (const key of outcomes.keys())
    if (key !== null && !listed.has(key) && groups.length < limit) groups.push([key, [0, 0, 0, 0]])
  const keys = groups.map(([key]) => key)
  const field = groupBy === 'utmCampaign' ? 'campaign' : groupBy
  const toName = await loadGroupNames(needs, actor, groupBy, keys, field)
  const rows = groups.map(([key, counts]) => ({ ...toName(key), ...toFunnelRow(counts, outcomes.get(key)) }))
  return { data: rows as FunnelAnswerData, ...outcomes.money }
}

/** The rate is of clicks that became leads. One click can bring several leads, so it ends at 1. */
const toFunnelRow = ([clicks, visits, leads, converted]: Counts, outcomes: OutcomeCounts) => ({
  clicks,
  visits,
  leads,
  rate: clicks === 0 ? null : Math.min(1, Math.round((converted / clicks) * 10_000) / 10_000),
  ...outcomes,
})

/**
 * Lists the groups with the most clicks, then groups without clicks that have visits, then groups that have only leads.
 * Each stage counts the groups of the stages before, and adds groups of its own while there is room.
 */
async function listGroups(stages: Stage[], column: Column, limit: number): Promise<[Key, Counts][]> {
  const groups = new Map<Key, Counts>()
  for (const [index, stage] of stages.entries()) {
    const keys = [...groups.keys()]
    const room = limit - keys.length
    const [listed, added] = await Promise.all([
      keys.length > 0 ? stage.groups(column, { keys, negate: false }, keys.length) : [],
      room > 0 ? stage.groups(column, { keys, negate: true }, room) : [],
    ])
    for (const [key, count] of [...listed, ...added]) {
      const counts = groups.get(key) ?? [0, 0, 0, 0]
      counts[index] = count
      groups.set(key, counts)
    }
  }
  return [...groups]
}

/** A filter for the groups. A value that equals the null label is in the same group as a missing value. */
const toGroupFilter = <Name extends Column>(column: Name, { keys, negate }: GroupSubset) => ({
  column,
  values: keys.flatMap((key) => (key === toNullLabel(column) ? [null, key] : [key])),
  negate,
})

/** The name of a stage's question, for its explanation. */
function toSubsetName({ keys, negate }: GroupSubset): string | undefined {
  if (!negate) return 'those with clicks'
  return keys.length > 0 ? 'all others' : undefined
}

function createHitStage(needs: LeadContext, selection: LeadSelection, outcome: HitOutcome): Stage {
  const { model: _, filters, ...range } = selection
  // The cast is safe: no filter of a funnel is about the form, the only column that hits do not have.
  const hits = { ...range, filters: filters as HitSelection['filters'], classes: ['human' as const] }
  const ask = async (
    groupBy: HitGrouping,
    extraFilters: HitSelection['filters'] = [],
    part: string | undefined = undefined,
  ) => {
    const query = { ...hits, filters: [...hits.filters, ...extraFilters], outcomes: [outcome], groupBy }
    return (await askHits(needs, query, part)).map(({ key, clicks }): [Key, number] => [key ?? '', clicks])
  }
  return {
    total: async () => (await ask({ by: 'total' }))[0]?.[1] ?? 0,
    async groups(column, subset, limit) {
      if (column !== 'tagId') {
        const grouping = { by: column, limit, nullAs: toNullLabel(column) }
        return ask(grouping, [toGroupFilter(column, subset)], toSubsetName(subset))
      }
      const groups = await listLinkTags(needs, selection, subset)
      return ask({ by: 'linkGroup', groups, limit }, [], toSubsetName(subset))
    },
  }
}

async function listLinkTags(
  { db }: LeadContext,
  { workspaceId }: WorkspaceScope,
  { keys, negate }: GroupSubset,
) {
  const linkTags = await loadLinkTags(db, workspaceId)
  const tagIds = new Set(keys)
  return linkTags.filter(({ group }) => tagIds.has(group) !== negate)
}

function createLeadStage({ db }: LeadContext, selection: LeadSelection): Stage {
  const ask = async (grouping: LeadGrouping, extraFilters: LeadSelection['filters'] = []) => {
    const answers = await countLeads(
      db,
      { ...selection, filters: [...selection.filters, ...extraFilters] },
      grouping,
    )
    return answers.map(({ key, leads }): [Key, number] => [key ?? '', leads])
  }
  return {
    total: async () => (await ask({ by: 'total' }))[0]?.[1] ?? 0,
    groups(column, subset, limit) {
      if (column !== 'tagId') return ask({ by: column, limit }, [toGroupFilter(column, subset)])
      return ask({
        by: 'tagId',
        limit,
        among: { ids: subset.keys.map(Number), negate: subset.negate },
      })
    },
  }
}
