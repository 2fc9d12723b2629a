// Answers a question about leads, in the words and shapes of one about clicks.

import { toIso } from '../../lib/api-fields.ts'
import type { Database } from '../../storage/database/database.ts'
import type { AttributionModel } from './attribution-model.ts'
import {
  countLeads,
  type LeadColumn,
  type LeadCount,
  type LeadGrouping,
  type LeadSelection,
  NO_LINK,
} from './count-leads.ts'
import { type FilterName, toNullLabel } from './filter.ts'
import type { LeadAnswerData, LeadQuestion } from './leads-schema.ts'
import { type LinkName, loadFormNames, loadLinkNames, loadTagNames } from './names.ts'
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
  /** Decides which link brought the leads of just now, where that is known within two seconds. */
  resolvePendingAttribution: (workspaceId: number) => Promise<void>
}

/** @throws `invalid` for a range that is empty or has too many buckets */
export async function answerLeads(
  needs: LeadNeeds,
  actor: WorkspaceScope,
  question: LeadQuestion,
): Promise<LeadAnswerData> {
  const selection = await resolveLeadSelection(needs, actor, question)
  const starts = question.groupBy === 'time' ? resolveBucketStarts(selection, question) : []
  await needs.resolvePendingAttribution(actor.workspaceId)
  const answers = await countLeads(needs.db, selection, toGrouping(question, starts))
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
      const nameOf = await loadFormNames(
        needs,
        actor,
        answers.map(({ key }) => String(key)),
      )
      return answers.map((each) => ({ ...nameOf(String(each.key)), ...toCounts(each) }))
    }
    case 'slug':
      return withLabels(question.groupBy, answers, await loadSlugNames(needs, actor, answers))
    case 'domain':
      return withLabels(question.groupBy, answers, (domain) => domain || needs.defaultDomain)
    default:
      return withLabels(question.groupBy, answers, (value) => value)
  }
}

/** @throws `invalid` for a range that is empty */
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

const withNames = <Name>(answers: LeadCount[], nameOf: (id: number) => Name) =>
  answers.map((each) => ({ ...nameOf(Number(each.key)), ...toCounts(each) }))

/** @param nameOf what a value that is there is shown as */
const withLabels = (groupBy: FilterName, answers: LeadCount[], nameOf: (value: string) => string) =>
  answers.map((each) => ({
    [groupBy]: each.key === null ? toNullLabel(groupBy) : nameOf(String(each.key)),
    ...toCounts(each),
  }))

const NO_LINK_NAME: LinkName = { link: null, slug: null, domain: null, destinationUrl: null, deleted: false }

/** As `loadLinkNames`, and what is of no link says so. */
export async function loadLinkNamesOrNone(needs: SelectionNeeds, actor: WorkspaceScope, ids: number[]) {
  const nameOf = await loadLinkNames(
    needs,
    actor,
    ids.filter((id) => id !== NO_LINK),
  )
  return (id: number): LinkName => (id === NO_LINK ? NO_LINK_NAME : nameOf(id))
}

/** A slug is shown as the newest link has it, as for clicks. */
async function loadSlugNames({ db }: LeadNeeds, { workspaceId }: WorkspaceScope, answers: LeadCount[]) {
  const keys = answers.flatMap(({ key }) => (key === null ? [] : [String(key)]))
  const links =
    keys.length === 0
      ? []
      : await db.read
          .selectFrom('links')
          .select(['slug', 'slug_key'])
          .where('workspace_id', '=', workspaceId)
          .where('slug_key', 'in', keys)
          .orderBy('id')
          .execute()
  const slugs = new Map(links.map((link) => [link.slug_key, link.slug]))
  return (key: string) => slugs.get(key) ?? key
}
