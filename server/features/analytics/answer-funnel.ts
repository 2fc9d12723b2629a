// From clicks over visits to leads: three questions with the same filters, side by side.

import { toIso } from '../../lib/api-fields.ts'
import type { HitOutcome } from '../../storage/hits/hit.ts'
import type { HitGrouping, HitReader, HitSelection } from '../../storage/hits/hit-engine.ts'
import { askHits } from './answer-clicks.ts'
import { type LeadNeeds, loadLinkNamesOrNone, resolveLeadSelection } from './answer-leads.ts'
import { countLeads, type LeadGrouping, type LeadSelection } from './count-leads.ts'
import { toNullLabel } from './filter.ts'
import type { FunnelAnswerData, FunnelQuestion } from './leads-schema.ts'
import { loadTagNames } from './names.ts'
import type { WorkspaceScope } from './resolve-selection.ts'

export interface FunnelNeeds extends LeadNeeds {
  hits: Pick<HitReader, 'ask'>
}

type Key = string | number
type Column = Exclude<FunnelQuestion['groupBy'], 'total'>

/** Of these groups alone, or of all but these. */
interface GroupSubset {
  keys: Key[]
  negate: boolean
}

interface Stage {
  total(): Promise<number>
  /** Most first. */
  groups(column: Column, among: GroupSubset, limit: number): Promise<[Key, number][]>
}

/** How many of each stage. */
type Counts = [clicks: number, visits: number, leads: number]

/** @throws `invalid` for a range that is empty, `unavailable` when the engine cannot answer */
export async function answerFunnel(
  needs: FunnelNeeds,
  actor: WorkspaceScope,
  question: FunnelQuestion,
): Promise<FunnelAnswerData> {
  const selection = await resolveLeadSelection(needs, actor, question)
  await needs.resolvePendingAttribution(actor.workspaceId)
  const stages = [
    createHitStage(needs, selection, 'redirect'),
    createHitStage(needs, selection, 'landing'),
    createLeadStage(needs, selection),
  ]
  const { groupBy, limit } = question
  if (groupBy === 'total') {
    const totals = (await Promise.all(stages.map((stage) => stage.total()))) as Counts
    return { ...toFunnelRow(totals), start: toIso(selection.start), end: toIso(selection.end) }
  }
  const groups = await listGroups(stages, groupBy, limit)
  const ids = groups.map(([key]) => Number(key))
  switch (groupBy) {
    case 'linkId': {
      const nameOf = await loadLinkNamesOrNone(needs, actor, ids)
      return groups.map(([id, found]) => ({ ...nameOf(Number(id)), ...toFunnelRow(found) }))
    }
    case 'tagId': {
      const nameOf = await loadTagNames(needs, actor, ids)
      return groups.map(([id, found]) => ({ ...nameOf(Number(id)), ...toFunnelRow(found) }))
    }
    case 'utmCampaign':
      return groups.map(([key, found]) => ({ campaign: String(key), ...toFunnelRow(found) }))
    case 'referrer':
      return groups.map(([key, found]) => ({ referrer: String(key), ...toFunnelRow(found) }))
    case 'country':
      return groups.map(([key, found]) => ({ country: String(key), ...toFunnelRow(found) }))
  }
}

const toFunnelRow = ([clicks, visits, leads]: Counts) => ({
  clicks,
  visits,
  leads,
  rate: clicks === 0 ? null : Math.round((leads / clicks) * 10_000) / 10_000,
})

/**
 * The groups with most clicks; after them those without clicks that have visits, and last those that have leads alone.
 * Each stage is asked about the groups that are known, and for more where there is still room.
 */
async function listGroups(stages: Stage[], column: Column, limit: number): Promise<[Key, Counts][]> {
  const groups = new Map<Key, Counts>()
  for (const [index, stage] of stages.entries()) {
    const keys = [...groups.keys()]
    const room = limit - keys.length
    const [known, further] = await Promise.all([
      keys.length > 0 ? stage.groups(column, { keys, negate: false }, keys.length) : [],
      room > 0 ? stage.groups(column, { keys, negate: true }, room) : [],
    ])
    for (const [key, count] of [...known, ...further]) {
      const counts = groups.get(key) ?? [0, 0, 0]
      counts[index] = count
      groups.set(key, counts)
    }
  }
  return [...groups]
}

/** The filter that leaves these groups; what is called like nothing is one group with nothing. */
const toGroupFilter = <Name extends Column>(column: Name, { keys, negate }: GroupSubset) => ({
  column,
  values: keys.flatMap((key) => (key === toNullLabel(column) ? [null, key] : [key])),
  negate,
})

function createHitStage(needs: FunnelNeeds, selection: LeadSelection, outcome: HitOutcome): Stage {
  const { model: _, filters, ...range } = selection
  // No filter of a funnel is about the form, which a hit does not have.
  const hits = { ...range, filters: filters as HitSelection['filters'], classes: ['human' as const] }
  const ask = async (groupBy: HitGrouping, more: HitSelection['filters'] = []) => {
    const asked = { ...hits, filters: [...hits.filters, ...more], outcomes: [outcome], groupBy }
    return (await askHits(needs, asked)).map(({ key, clicks }): [Key, number] => [key ?? '', clicks])
  }
  return {
    total: async () => (await ask({ by: 'total' }))[0]?.[1] ?? 0,
    async groups(column, among, limit) {
      if (column !== 'tagId') {
        return ask({ by: column, limit, nullAs: toNullLabel(column) }, [toGroupFilter(column, among)])
      }
      const groups = await listLinkTags(needs, selection, among)
      return ask({ by: 'linkGroup', groups, limit })
    },
  }
}

async function listLinkTags(
  { db }: Pick<FunnelNeeds, 'db'>,
  { workspaceId }: WorkspaceScope,
  { keys, negate }: GroupSubset,
) {
  const carried = await db.read
    .selectFrom('link_tags')
    .select(['link_id as linkId', 'tag_id as group'])
    .where('workspace_id', '=', workspaceId)
    .execute()
  const among = new Set(keys)
  return carried.filter(({ group }) => among.has(group) !== negate)
}

function createLeadStage({ db }: FunnelNeeds, selection: LeadSelection): Stage {
  const ask = async (grouping: LeadGrouping, more: LeadSelection['filters'] = []) => {
    const answers = await countLeads(db, { ...selection, filters: [...selection.filters, ...more] }, grouping)
    return answers.map(({ key, leads }): [Key, number] => [key ?? '', leads])
  }
  return {
    total: async () => (await ask({ by: 'total' }))[0]?.[1] ?? 0,
    groups(column, among, limit) {
      if (column !== 'tagId') return ask({ by: column, limit }, [toGroupFilter(column, among)])
      return ask({
        by: 'tagId',
        limit,
        among: { ids: among.keys.map(Number), negate: among.negate },
      })
    },
  }
}
