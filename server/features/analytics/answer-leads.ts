// Answers a question about leads. Parameters and answers have the same names and shapes as those about clicks.

import { toIso } from '../../lib/iso-time.ts'
import type { Database } from '../../storage/database/database.ts'
import { type FilterName, toNullLabel } from '../../storage/filter-grammar.ts'
import { type AttributionModel, NO_LINK } from './attribution-model.ts'
import {
  countLeads,
  type LeadColumn,
  type LeadCount,
  type LeadGrouping,
  type LeadSelection,
} from './count-leads.ts'
import { countOutcomes, type GroupKey, type OutcomeAnswer, type OutcomeCounts } from './count-outcomes.ts'
import type { AnswerExplainer } from './explain.ts'
import type { AnswerMoney, LeadAnswerData, LeadQuestion } from './leads-schema.ts'
import { type LinkName, listLinkSlugs, loadFormNames, loadLinkNames, loadTagNames } from './names.ts'
import type { QuestionSelection } from './parameters.ts'
import {
  type ResolvedName,
  resolveBucketStarts,
  resolveSelection,
  type SelectionNeeds,
  type WorkspaceScope,
} from './resolve-selection.ts'
import { fillBuckets } from './timeline.ts'

export interface LeadNeeds extends SelectionNeeds {
  db: Pick<Database, 'engine' | 'read'>
  /** Assigns the newest leads to their links, for the answer. Leads that take longer than two seconds stay pending. */
  resolvePendingAttribution: (workspaceId: number) => Promise<void>
  /** Called once for each answer that counts leads. */
  noteLeads?: AnswerExplainer['noteLeads']
}

/** @throws Failure `invalid` for a range that is empty or has too many buckets */
export async function answerLeads(
  needs: LeadNeeds,
  actor: WorkspaceScope,
  question: LeadQuestion,
): Promise<{ data: LeadAnswerData } & AnswerMoney> {
  const selection = await resolveLeadSelection(needs, actor, question)
  const starts = question.groupBy === 'time' ? resolveBucketStarts(selection, question) : []
  await needs.resolvePendingAttribution(actor.workspaceId)
  const grouping = toGrouping(question, starts)
  const leads = await countLeads(needs.db, selection, grouping)
  const outcomes = await countOutcomes(needs.db, selection, grouping, question.currency)
  needs.noteLeads?.(selection)
  const answers = addOutcomes(
    leads,
    outcomes,
    'limit' in grouping ? grouping.limit : Number.POSITIVE_INFINITY,
  )
  const toCounts = createCounter(outcomes)
  const data = await nameAnswers(needs, actor, { question, selection, starts, answers, toCounts })
  return { data, ...outcomes.money }
}

/** Groups that have outcomes in the range, and leads only before it, come last, while there is room. */
function addOutcomes(leads: LeadCount[], outcomes: OutcomeAnswer, limit: number): LeadCount[] {
  const known = new Set<GroupKey>(leads.map(({ key }) => key))
  const rest = outcomes.keys().filter((key) => !known.has(key))
  const added = rest.map((key): LeadCount => ({ key, leads: 0, visitors: 0 }))
  return [...leads, ...added.slice(0, Math.max(0, limit - leads.length))]
}

type Counts = Omit<LeadCount, 'key'> & OutcomeCounts
type ToCounts = (answer: LeadCount | undefined) => Counts

const createCounter =
  (outcomes: OutcomeAnswer): ToCounts =>
  (answer) => ({
    leads: answer?.leads ?? 0,
    visitors: answer?.visitors ?? 0,
    ...(answer ? outcomes.get(answer.key) : outcomes.none),
  })

interface UnnamedAnswer {
  question: LeadQuestion
  selection: LeadSelection
  starts: number[]
  answers: LeadCount[]
  toCounts: ToCounts
}

async function nameAnswers(
  needs: LeadNeeds,
  actor: WorkspaceScope,
  { question: { groupBy }, selection, starts, answers, toCounts }: UnnamedAnswer,
): Promise<LeadAnswerData> {
  const ids = () => answers.map(({ key }) => Number(key))
  const withNames = <Name>(getName: (id: number) => Name) =>
    answers.map((answer) => ({ ...getName(Number(answer.key)), ...toCounts(answer) }))
  /** @param toLabel the label of a value; a missing value has the null label */
  const withLabels = (name: FilterName, toLabel: (value: string) => string) =>
    answers.map((answer) => ({
      [name]: answer.key === null ? toNullLabel(name) : toLabel(String(answer.key)),
      ...toCounts(answer),
    }))
  switch (groupBy) {
    case 'total':
      return { ...toCounts(answers[0]), start: toIso(selection.start), end: toIso(selection.end) }
    case 'time':
      return fillBuckets(starts, answers, toCounts)
    case 'linkId':
      return withNames(await loadLinkNamesOrNone(needs, actor, ids()))
    case 'tagId':
      return withNames(await loadTagNames(needs, actor, ids()))
    case 'form': {
      const getName = await loadFormNames(
        needs,
        actor,
        answers.map(({ key }) => String(key)),
      )
      return answers.map((answer) => ({ ...getName(String(answer.key)), ...toCounts(answer) }))
    }
    case 'slug':
      return withLabels(groupBy, await loadSlugNames(needs, actor, answers))
    case 'domain':
      return withLabels(groupBy, (domain) => domain || needs.defaultDomain)
    default:
      return withLabels(groupBy, (value) => value)
  }
}

/** @throws Failure `invalid` for an empty range */
export async function resolveLeadSelection<Name extends FilterName>(
  needs: SelectionNeeds,
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
export async function loadLinkNamesOrNone(needs: SelectionNeeds, actor: WorkspaceScope, ids: number[]) {
  const getName = await loadLinkNames(
    needs,
    actor,
    ids.filter((id) => id !== NO_LINK),
  )
  return (id: number): LinkName => (id === NO_LINK ? NO_LINK_NAME : getName(id))
}

/** Gives the newest spelling of a slug, as for clicks. */
async function loadSlugNames({ db }: LeadNeeds, { workspaceId }: WorkspaceScope, answers: LeadCount[]) {
  const keys = new Set(answers.flatMap(({ key }) => (key === null ? [] : [String(key)])))
  const slugs = new Map<string, string>()
  if (keys.size > 0)
    for await (const links of listLinkSlugs(db, workspaceId))
      for (const { slug, slug_key } of links) if (keys.has(slug_key)) slugs.set(slug_key, slug)
  return (key: string) => slugs.get(key) ?? key
}
