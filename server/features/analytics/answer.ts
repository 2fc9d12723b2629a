// Answers a question about clicks: names of links and tags become ids, the engine counts, ids become names again.

import { Failure, unavailable } from '../../lib/failure.ts'
import { iso } from '../../lib/wire.ts'
import type { HitAnswer, HitAnswers, HitGrouping, HitQuery, HitSelection } from '../../storage/hits/engine.ts'
import { nameOfNull } from './filter.ts'
import { linkNames, tagNames } from './names.ts'
import type { AnalyticsQuestion, ClickAnswerData, ClickSelection } from './schema.ts'
import { type Asker, resolve, type SelectionNeeds, startsOf } from './selection.ts'
import { fillBuckets } from './timeline.ts'

export interface Needs extends SelectionNeeds {
  hits: Pick<HitAnswers, 'ask'>
}

/**
 * Deleted links keep counting, under their domain, slug and tags as well.
 * @throws `invalid` for a range that is empty or has too many buckets, `unavailable` when the engine cannot answer.
 */
export async function answerClicks(
  needs: Needs,
  actor: Asker,
  question: AnalyticsQuestion,
): Promise<ClickAnswerData> {
  const selection = await resolveSelection(needs, actor, question)
  const starts = question.groupBy === 'time' ? startsOf(selection, question) : []
  const query = { ...selection, groupBy: await groupingOf(needs, actor, question, starts) }
  const answers = await askHits(needs, query)
  switch (question.groupBy) {
    case 'total':
      return { ...counts(answers[0]), start: iso(selection.start), end: iso(selection.end) }
    case 'time':
      return fillBuckets(starts, answers, counts)
    case 'linkId':
      return named(answers, await linkNames(needs, actor, answers.map(idOf)))
    case 'tagId':
      return named(answers, await tagNames(needs, actor, answers.map(idOf)))
    default: {
      const name = question.groupBy
      return answers.map((each) => ({ [name]: String(each.key), ...counts(each) }))
    }
  }
}

const counts = (answer: HitAnswer | undefined) => ({
  clicks: answer?.clicks ?? 0,
  visitors: answer?.visitors ?? 0,
})

const idOf = (answer: { key: HitAnswer['key'] }) => Number(answer.key)

const named = <Name>(answers: HitAnswer[], nameOf: (id: number) => Name) =>
  answers.map((each) => ({ ...nameOf(idOf(each)), ...counts(each) }))

/** @throws `unavailable` when the engine cannot answer */
export const askHits = ({ hits }: Pick<Needs, 'hits'>, query: HitQuery): Promise<HitAnswer[]> =>
  hits.ask(query).catch((error: unknown) => {
    throw error instanceof Failure ? error : unavailable(error)
  })

/** Which hits are meant, in ids and milliseconds. @throws `invalid` for a range that is empty */
export const resolveSelection = async (
  needs: SelectionNeeds,
  actor: Asker,
  selection: ClickSelection,
): Promise<HitSelection> => ({
  ...(await resolve(needs, actor, selection)),
  classes: selection.classes,
})

async function groupingOf(
  { rows, defaultDomain }: Needs,
  { workspaceId }: Asker,
  { groupBy, limit }: AnalyticsQuestion,
  starts: number[],
): Promise<HitGrouping> {
  switch (groupBy) {
    case 'total':
      return { by: 'total' }
    case 'time':
      return { by: 'time', starts }
    case 'tagId': {
      const carried = await rows.read
        .selectFrom('link_tags')
        .select(['link_id', 'tag_id'])
        .where('workspace_id', '=', workspaceId)
        .execute()
      const groups = carried.map((each) => ({ linkId: each.link_id, group: each.tag_id }))
      return { by: 'linkGroup', groups, limit }
    }
    case 'domain':
    case 'slug': {
      const links = await rows.read
        .selectFrom('links')
        .select(['id', 'domain', 'slug', 'slug_key'])
        .where('workspace_id', '=', workspaceId)
        .orderBy('id')
        .execute()
      // One slug may be typed in several ways, on several domains and over time: it is shown as the newest link has it.
      const slugs = new Map(links.map((link) => [link.slug_key, link.slug]))
      const groups = links.map((link) => ({
        linkId: link.id,
        group: groupBy === 'domain' ? link.domain || defaultDomain : (slugs.get(link.slug_key) as string),
      }))
      return { by: 'linkGroup', groups, limit }
    }
    default:
      return { by: groupBy, limit, nullAs: nameOfNull(groupBy) }
  }
}
