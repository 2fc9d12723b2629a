// Answers a question about leads. Parameters and answers have the same names and shapes as those about clicks.

import { toIso } from '../../lib/api-fields.ts'
import type { Database } from '../../storage/database/database.ts'
import { type AttributionModel, NO_LINK } from './attribution-model.ts'
import {
  countLeads,
  type LeadColumn,
  type LeadCount,
  type LeadGrouping,
  type LeadSelection,
} from './count-leads.ts'
import type { AnswerExplainer } from './explain.ts'
import { type FilterName, toNullLabel } from './filter.ts'
import type { LeadAnswerData, LeadQuestion } from './leads-schema.ts'
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
): Promise<LeadAnswerData> {
  const selection = await resolveLeadSelection(needs, actor, question)
  const starts = question.groupBy === 'time' ? resolveBucketStarts(selection, question) : []
  await needs.resolvePendingAttribution(actor.workspaceId)
  const answers = await countLeads(needs.db, selection, toGrouping(question, starts))
  needs.noteLeads?.(selection)
  const ids = () => answers.map(({ key }) => Number(key))
  switch (question.groupBy) {
    case 'total':
      return { ...toCounts(answers[0]), start: toIso(selection.start), end: toIso(selection.end) }
    case 'time':
      return fillBuckets(starts, answers, toCounts)
    case 'linkId':
      return withNames(answers, await loadLinkNamesOrNone(needs, actor, ids()))
    case 'tagId':
      return withNames(answers, await loadTagNames(needs, actor, ids()))
    case 'form': {
      const getName = await loadFormNames(
        needs,
        actor,
        answers.map(({ key }) => String(key)),
      )
      return answers.map((answer) => ({ ...getName(String(answer.key)), ...toCounts(answer) }))
    }
    case 'slug':
      return withLabels(question.groupBy, answers, await loadSlugNames(needs, actor, answers))
    case 'domain':
      return withLabels(question.groupBy, answers, (domain) => domain || needs.defaultDomain)
    default:
      return withLabels(question.groupBy, answers, (value) => value)
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

const toCounts = (answer: LeadCount | undefined) => ({
  leads: answer?.leads ?? 0,
  visitors: answer?.visitors ?? 0,
})

const withNames = <Name>(answers: LeadCount[], getName: (id: number) => Name) =>
  answers.map((answer) => ({ ...getName(Number(answer.key)), ...toCounts(answer) }))

/** @param toLabel the label of a value; a missing value has the null label */
const withLabels = (groupBy: FilterName, answers: LeadCount[], toLabel: (value: string) => string) =>
  answers.map((answer) => ({
    [groupBy]: answer.key === null ? toNullLabel(groupBy) : toLabel(String(answer.key)),
    ...toCounts(answer),
  }))

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
