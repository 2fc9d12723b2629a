// Answers a question about clicks: names of links and tags become ids, the engine counts, ids become names again.

import { toIso } from '../../lib/api-fields.ts'
import { Failure, unavailable } from '../../lib/failure.ts'
import type {
  HitAnswer,
  HitGrouping,
  HitQuery,
  HitReader,
  HitSelection,
} from '../../storage/hits/hit-engine.ts'
import { toNullLabel } from './filter.ts'
import { loadLinkNames, loadTagNames } from './names.ts'
import {
  resolveBucketStarts,
  resolveSelection,
  type SelectionNeeds,
  type WorkspaceScope,
} from './resolve-selection.ts'
import type { ClickAnswerData, ClickQuestion, ClickSelection } from './schema.ts'
import { fillBuckets } from './timeline.ts'

export interface ClickNeeds extends SelectionNeeds {
  hits: Pick<HitReader, 'ask'>
}

/**
 * Deleted links keep counting, under their domain, slug and tags as well.
 * @throws `invalid` for a range that is empty or has too many buckets, `unavailable` when the engine cannot answer.
 */
export async function answerClicks(
  needs: ClickNeeds,
  actor: WorkspaceScope,
  question: ClickQuestion,
): Promise<ClickAnswerData> {
  const selection = await resolveClickSelection(needs, actor, question)
  const starts = question.groupBy === 'time' ? resolveBucketStarts(selection, question) : []
  const query = { ...selection, groupBy: await toGrouping(needs, actor, question, starts) }
  const answers = await askHits(needs, query)
  switch (question.groupBy) {
    case 'total':
      return { ...toCounts(answers[0]), start: toIso(selection.start), end: toIso(selection.end) }
    case 'time':
      return fillBuckets(starts, answers, toCounts)
    case 'linkId':
      return withNames(answers, await loadLinkNames(needs, actor, answers.map(toId)))
    case 'tagId':
      return withNames(answers, await loadTagNames(needs, actor, answers.map(toId)))
    default: {
      const name = question.groupBy
      return answers.map((each) => ({ [name]: String(each.key), ...toCounts(each) }))
    }
  }
}

const toCounts = (answer: HitAnswer | undefined) => ({
  clicks: answer?.clicks ?? 0,
  visitors: answer?.visitors ?? 0,
})

const toId = (answer: { key: HitAnswer['key'] }) => Number(answer.key)

const withNames = <Name>(answers: HitAnswer[], nameOf: (id: number) => Name) =>
  answers.map((each) => ({ ...nameOf(toId(each)), ...toCounts(each) }))

/** @throws `unavailable` when the engine cannot answer */
export const askHits = ({ hits }: Pick<ClickNeeds, 'hits'>, query: HitQuery): Promise<HitAnswer[]> =>
  hits.ask(query).catch((error: unknown) => {
    throw error instanceof Failure ? error : unavailable(error)
  })

/** Which hits are meant, in ids and milliseconds. @throws `invalid` for a range that is empty */
export const resolveClickSelection = async (
  needs: SelectionNeeds,
  actor: WorkspaceScope,
  selection: ClickSelection,
): Promise<HitSelection> => ({
  ...(await resolveSelection(needs, actor, selection)),
  classes: selection.classes,
})

async function toGrouping(
  { db, defaultDomain }: ClickNeeds,
  { workspaceId }: WorkspaceScope,
  { groupBy, limit }: ClickQuestion,
  starts: number[],
): Promise<HitGrouping> {
  switch (groupBy) {
    case 'total':
      return { by: 'total' }
    case 'time':
      return { by: 'time', starts }
    case 'tagId': {
      const carried = await db.read
        .selectFrom('link_tags')
        .select(['link_id', 'tag_id'])
        .where('workspace_id', '=', workspaceId)
        .execute()
      const groups = carried.map((each) => ({ linkId: each.link_id, group: each.tag_id }))
      return { by: 'linkGroup', groups, limit }
    }
    case 'domain':
    case 'slug': {
      const links = await db.read
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
      return { by: groupBy, limit, nullAs: toNullLabel(groupBy) }
  }
}
