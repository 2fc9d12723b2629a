// Answers a question about leads. Parameters and answers have the same names and shapes as those about clicks.

import { toIso } from '../../lib/iso-time.ts'
import { type FilterName, toNullLabel } from '../../storage/filter-grammar.ts'
import { type AttributionModel, NO_LINK } from './attribution-model.ts'
import {
  countLeads,
  type LeadColumn,
  type LeadCount,
  type LeadGrouping,
  type LeadSelection,
} from './count-leads.ts'
import { countOutcomes, type GroupKey, type OutcomeAnswer } from './count-outcomes.ts'
import type { AnswerExplainer } from './explain.ts'
import type { AnswerMoney, LeadAnswerData, LeadQuestion } from './leads-schema.ts'
import { type LinkName, listLinkSlugs, loadFormNames, loadLinkNames, loadTagNames } from './names.ts'
import type { QuestionSelection } from './parameters.ts'
import {
  type AnswerContext,
  type ResolvedName,
  resolveBucketStarts,
  resolveSelection,
  type WorkspaceScope,
} from './resolve-selection.ts'
import { fillBuckets } from './timeline.ts'

export interface LeadContext extends AnswerContext {
  /** Assigns the newest leads to their links, for the answer. Leads that take longer than two seconds stay pending. */
  resolvePendingAttribution: (workspaceId: number) => Promise<void>
  /** Called once for each answer that counts leads. */
  noteLeads?: AnswerExplainer['noteLeads']
}

/** @throws Failure `invalid` for a range that is empty or has too many buckets */
export async function answerLeads(
  needs: LeadContext,
  actor: WorkspaceScope,
  question: LeadQuestion,
): Promise<{ data: LeadAnswerData } & AnswerMoney> {
  const { groupBy } = question
  const selection = await resolveLeadSelection(needs, actor, question)
  const starts = groupBy === 'time' ? resolveBucketStarts(selection, question) : []
  await needs.resolvePendingAttribution(actor.workspaceId)
  const grouping = toGrouping(question, starts)
  const leads = await countLeads(needs.db, selection, grouping)
  const outcomes = await countOutcomes(needs.db, selection, grouping, question.currency)
  needs.noteLeads?.(selection)
  const toCounts = (answer: LeadCount | undefined) => ({
    leads: answer?.leads ?? 0,
    visitors: answer?.visitors ?? 0,
    ...(answer ? outcomes.get(answer.key) : outcomes.none),
  })
  if (groupBy === 'total') {
    const range = { start: toIso(selection.start), end: toIso(selection.end) }
    return { data: { ...toCounts(leads[0]), ...range }, ...outcomes.money }
  }
  const answers = addOutcomes(
    leads,
    outcomes,
    'limit' in grouping ? grouping.limit : Number.POSITIVE_INFINITY,
  )
  if (groupBy === 'time') return { data: fillBuckets(starts, answers, toCounts), ...outcomes.money }
  const keys = answers.map(({ key }) => key)
  const toName = await loadGroupNames(needs, actor, groupBy, keys)
  const data = answers.map((answer) => ({ ...toName(answer.key), ...toCounts(answer) }))
  return { data: data as LeadAnswerData, ...outcomes.money }
}

/** Groups that have outcomes in the range, and leads only before it, come last, while there is room. */
function addOutcomes(leads: LeadCount[], outcomes: OutcomeAnswer, limit: number): LeadCount[] {
  const known = new Set<GroupKey>(leads.map(({ key }) => key))
  const rest = outcomes.keys().filter((key) => !known.has(key))
  const added = rest.map((key): LeadCount => ({ key, leads: 0, visitors: 0 }))
  return [...leads, ...added.slice(0, Math.max(0, limit - leads.length))]
}

/**
 * Loads the names of the groups of leads and funnels.
 * @param field the member of an answer that has the value of a group
 * @returns the members of an answer that name the group of a key
 */
export async function loadGroupNames(
  needs: AnswerContext,
  scope: WorkspaceScope,
  groupBy: FilterName,
  keys: GroupKey[],
  field: string = groupBy,
): Promise<(key: GroupKey) => object> {
  /** A missing value has the null label. */
  const toLabel = (toText: (value: string) => string) => (key: GroupKey) => ({
    [field]: key === null ? toNullLabel(groupBy) : toText(String(key)),
  })
  switch (groupBy) {
    case 'linkId': {
      const toName = await loadLinkNamesOrNone(needs, scope, keys.map(Number))
      return (id) => toName(Number(id))
    }
    case 'tagId': {
      const toName = await loadTagNames(needs, scope, keys.map(Number))
      return (id) => toName(Number(id))
    }
    case 'form': {
      const toName = await loadFormNames(needs, scope, keys.map(String))
      return (key) => toName(String(key))
    }
    case 'slug':
      return toLabel(await loadSlugNames(needs, scope, keys))
    case 'domain':
      return toLabel((domain) => domain || needs.defaultDomain)
    default:
      return toLabel((value) => value)
  }
}

/** @throws Failure `invalid` for an empty range */
export async function resolveLeadSelection<Name extends FilterName>(
  needs: AnswerContext,
  actor: WorkspaceScope,
  question: QuestionSelection<Name> & { model: AttributionModel } & (ResolvedName<Name> extends LeadColumn
      ? unknown
      : never),
): Promise<LeadSelection> {
  const { filters, ...range } = await resolveSelection(needs, actor, question)
  return { ...range, model: question.model, filters: filters as LeadSelection['filters'] }
}

function toGrouping({ groupBy, limit }: LeadQuestion, starts: number[]): LeadGrouping {
  if (groupBy === 'total') return { by: 'total' }
  return groupBy === 'time' ? { by: 'time', starts } : { by: groupBy, limit }
}

const NO_LINK_NAME: LinkName = { link: null, slug: null, domain: null, destinationUrl: null, deleted: false }

/** As `loadLinkNames`, with a name for leads without a link. */
export async function loadLinkNamesOrNone(needs: AnswerContext, actor: WorkspaceScope, ids: number[]) {
  const getName = await loadLinkNames(
    needs,
    actor,
    ids.filter((id) => id !== NO_LINK),
  )
  return (id: number): LinkName => (id === NO_LINK ? NO_LINK_NAME : getName(id))
}

/** Gives the newest spelling of a slug, as for clicks. */
async function loadSlugNames({ db }: AnswerContext, { workspaceId }: WorkspaceScope, groups: GroupKey[]) {
  const keys = new Set(groups.flatMap((key) => (key === null ? [] : [String(key)])))
  const slugs = new Map<string, string>()
  if (keys.size > 0)
    for await (const links of listLinkSlugs(db, workspaceId))
      for (const { slug, slug_key } of links) if (keys.has(slug_key)) slugs.set(slug_key, slug)
  return (key: string) => slugs.get(key) ?? key
}
