// From clicks over visits to leads: three questions with the same filters, side by side.

import { iso } from '../../lib/wire.ts'
import type { HitAnswers, HitGrouping, HitSelection } from '../../storage/hits/engine.ts'
import type { Outcome } from '../../storage/hits/hit.ts'
import { askHits } from './answer.ts'
import { countLeads, type LeadGrouping, type LeadSelection } from './count-leads.ts'
import { nameOfNull } from './filter.ts'
import { type Needs as LeadNeeds, namesOrNone, resolveLeads } from './leads.ts'
import type { FunnelAnswerData, FunnelQuestion } from './leads-schema.ts'
import { tagNames } from './names.ts'
import type { Asker } from './selection.ts'

export interface Needs extends LeadNeeds {
  hits: Pick<HitAnswers, 'ask'>
}

type Key = string | number
type Column = Exclude<FunnelQuestion['groupBy'], 'total'>

/** Of these groups alone, or of all but these. */
interface Among {
  keys: Key[]
  negate: boolean
}

interface Stage {
  total(): Promise<number>
  /** Most first. */
  groups(column: Column, among: Among, limit: number): Promise<[Key, number][]>
}

/** How many of each stage. */
type Counts = [clicks: number, visits: number, leads: number]

/** @throws `invalid` for a range that is empty, `unavailable` when the engine cannot answer */
export async function answerFunnel(
  needs: Needs,
  actor: Asker,
  question: FunnelQuestion,
): Promise<FunnelAnswerData> {
  const selection = await resolveLeads(needs, actor, question)
  await needs.settleAttribution(actor.workspaceId)
  const stages = [
    hitStage(needs, selection, 'redirect'),
    hitStage(needs, selection, 'landing'),
    leadStage(needs, selection),
  ]
  const { groupBy, limit } = question
  if (groupBy === 'total') {
    const totals = (await Promise.all(stages.map((stage) => stage.total()))) as Counts
    return { ...figures(totals), start: iso(selection.start), end: iso(selection.end) }
  }
  const groups = await groupsOf(stages, groupBy, limit)
  const ids = groups.map(([key]) => Number(key))
  switch (groupBy) {
    case 'linkId': {
      const nameOf = await namesOrNone(needs, actor, ids)
      return groups.map(([id, found]) => ({ ...nameOf(Number(id)), ...figures(found) }))
    }
    case 'tagId': {
      const nameOf = await tagNames(needs, actor, ids)
      return groups.map(([id, found]) => ({ ...nameOf(Number(id)), ...figures(found) }))
    }
    case 'utmCampaign':
      return groups.map(([key, found]) => ({ campaign: String(key), ...figures(found) }))
    case 'referrer':
      return groups.map(([key, found]) => ({ referrer: String(key), ...figures(found) }))
    case 'country':
      return groups.map(([key, found]) => ({ country: String(key), ...figures(found) }))
  }
}

const figures = ([clicks, visits, leads]: Counts) => ({
  clicks,
  visits,
  leads,
  rate: clicks === 0 ? null : Math.round((leads / clicks) * 10_000) / 10_000,
})

/**
 * The groups with most clicks; after them those without clicks that have visits, and last those that have leads alone.
 * Each stage is asked about the groups that are known, and for more where there is still room.
 */
async function groupsOf(stages: Stage[], column: Column, limit: number): Promise<[Key, Counts][]> {
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
const groupFilter = <Name extends Column>(column: Name, { keys, negate }: Among) => ({
  column,
  values: keys.flatMap((key) => (key === nameOfNull(column) ? [null, key] : [key])),
  negate,
})

function hitStage(needs: Needs, selection: LeadSelection, outcome: Outcome): Stage {
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
        return ask({ by: column, limit, nullAs: nameOfNull(column) }, [groupFilter(column, among)])
      }
      const groups = await tagsOfLinks(needs, selection, among)
      return ask({ by: 'linkGroup', groups, limit })
    },
  }
}

async function tagsOfLinks({ rows }: Pick<Needs, 'rows'>, { workspaceId }: Asker, { keys, negate }: Among) {
  const carried = await rows.read
    .selectFrom('link_tags')
    .select(['link_id as linkId', 'tag_id as group'])
    .where('workspace_id', '=', workspaceId)
    .execute()
  const among = new Set(keys)
  return carried.filter(({ group }) => among.has(group) !== negate)
}

function leadStage({ rows }: Needs, selection: LeadSelection): Stage {
  const ask = async (grouping: LeadGrouping, more: LeadSelection['filters'] = []) => {
    const answers = await countLeads(
      rows,
      { ...selection, filters: [...selection.filters, ...more] },
      grouping,
    )
    return answers.map(({ key, leads }): [Key, number] => [key ?? '', leads])
  }
  return {
    total: async () => (await ask({ by: 'total' }))[0]?.[1] ?? 0,
    groups(column, among, limit) {
      if (column !== 'tagId') return ask({ by: column, limit }, [groupFilter(column, among)])
      return ask({
        by: 'tagId',
        limit,
        among: { ids: among.keys.map(Number), negate: among.negate },
      })
    },
  }
}
