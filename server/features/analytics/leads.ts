// Answers a question about leads, in the words and shapes of one about clicks.

import { iso } from '../../lib/wire.ts'
import type { Rows } from '../../storage/rows/engine.ts'
import {
  countLeads,
  type LeadAnswer,
  type LeadColumn,
  type LeadGrouping,
  type LeadSelection,
  NO_LINK,
} from './count-leads.ts'
import type { Model } from './credit.ts'
import { type FilterName, nameOfNull } from './filter.ts'
import type { LeadAnswerData, LeadQuestion } from './leads-schema.ts'
import { formNames, type LinkName, linkNames, tagNames } from './names.ts'
import type { Selection } from './parameters.ts'
import { type Asker, type ResolvedName, resolve, type SelectionNeeds, startsOf } from './selection.ts'
import { fillBuckets } from './timeline.ts'

export interface Needs extends SelectionNeeds {
  rows: Pick<Rows, 'engine' | 'read'>
  /** Decides which link brought the leads of just now, so that an answer shows it. */
  settleAttribution: (workspaceId: number) => Promise<void>
}

/** @throws `invalid` for a range that is empty or has too many buckets */
export async function answerLeads(
  needs: Needs,
  actor: Asker,
  question: LeadQuestion,
): Promise<LeadAnswerData> {
  const selection = await resolveLeads(needs, actor, question)
  const starts = question.groupBy === 'time' ? startsOf(selection, question) : []
  await needs.settleAttribution(actor.workspaceId)
  const answers = await countLeads(needs.rows, selection, groupingOf(question, starts))
  const ids = () => answers.map(({ key }) => Number(key))
  switch (question.groupBy) {
    case 'total':
      return { ...counts(answers[0]), start: iso(selection.start), end: iso(selection.end) }
    case 'time':
      return fillBuckets(starts, answers, counts)
    case 'linkId':
      return named(answers, await namesOrNone(needs, actor, ids()))
    case 'tagId':
      return named(answers, await tagNames(needs, actor, ids()))
    case 'form': {
      const nameOf = await formNames(
        needs,
        actor,
        answers.map(({ key }) => String(key)),
      )
      return answers.map((each) => ({ ...nameOf(String(each.key)), ...counts(each) }))
    }
    case 'slug':
      return valued(question.groupBy, answers, await slugNames(needs, actor, answers))
    case 'domain':
      return valued(question.groupBy, answers, (domain) => domain || needs.defaultDomain)
    default:
      return valued(question.groupBy, answers, (value) => value)
  }
}

/** @throws `invalid` for a range that is empty */
export async function resolveLeads<Name extends FilterName>(
  needs: SelectionNeeds,
  actor: Asker,
  question: Selection<Name> & { model: Model } & (ResolvedName<Name> extends LeadColumn ? unknown : never),
): Promise<LeadSelection> {
  const { filters, ...range } = await resolve(needs, actor, question)
  return { ...range, model: question.model, filters: filters as LeadSelection['filters'] }
}

function groupingOf({ groupBy, limit }: LeadQuestion, starts: number[]): LeadGrouping {
  if (groupBy === 'total') return { by: 'total' }
  return groupBy === 'time' ? { by: 'time', starts } : { by: groupBy, limit }
}

const counts = (answer: LeadAnswer | undefined) => ({
  leads: answer?.leads ?? 0,
  visitors: answer?.visitors ?? 0,
})

const named = <Name>(answers: LeadAnswer[], nameOf: (id: number) => Name) =>
  answers.map((each) => ({ ...nameOf(Number(each.key)), ...counts(each) }))

/** @param nameOf what a value that is there is shown as */
const valued = (groupBy: FilterName, answers: LeadAnswer[], nameOf: (value: string) => string) =>
  answers.map((each) => ({
    [groupBy]: each.key === null ? nameOfNull(groupBy) : nameOf(String(each.key)),
    ...counts(each),
  }))

const WITHOUT: LinkName = { link: null, slug: null, domain: null, destinationUrl: null, deleted: false }

/** As `linkNames`, and what is of no link says so. */
export async function namesOrNone(needs: SelectionNeeds, actor: Asker, ids: number[]) {
  const nameOf = await linkNames(
    needs,
    actor,
    ids.filter((id) => id !== NO_LINK),
  )
  return (id: number): LinkName => (id === NO_LINK ? WITHOUT : nameOf(id))
}

/** A slug is shown as the newest link has it, as for clicks. */
async function slugNames({ rows }: Needs, { workspaceId }: Asker, answers: LeadAnswer[]) {
  const keys = answers.flatMap(({ key }) => (key === null ? [] : [String(key)]))
  const links =
    keys.length === 0
      ? []
      : await rows.read
          .selectFrom('links')
          .select(['slug', 'slug_key'])
          .where('workspace_id', '=', workspaceId)
          .where('slug_key', 'in', keys)
          .orderBy('id')
          .execute()
  const slugs = new Map(links.map((link) => [link.slug_key, link.slug]))
  return (key: string) => slugs.get(key) ?? key
}
