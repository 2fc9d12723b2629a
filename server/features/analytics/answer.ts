// Answers a question about clicks: names of links and tags become ids, the engine counts, ids become names again.

import { Failure, invalid, unavailable } from '../../lib/failure.ts'
import { iso } from '../../lib/wire.ts'
import type {
  HitAnswer,
  HitAnswers,
  HitFilter,
  HitGrouping,
  HitSelection,
} from '../../storage/hits/engine.ts'
import type { Rows } from '../../storage/rows/engine.ts'
import type { Actor } from '../accounts/actor.ts'
import { nameOfNull } from './filter.ts'
import type { AnalyticsQuestion, ClickAnswerData, ClickSelection } from './schema.ts'
import {
  BUCKETS_MAX,
  bucketStarts,
  coarserThan,
  fillBuckets,
  granularityOf,
  type Range,
  rangeOfInterval,
  untilNow,
} from './timeline.ts'

export interface Needs {
  rows: Pick<Rows, 'read'>
  hits: Pick<HitAnswers, 'ask'>
  now: () => number
  /** What links of the default domain (stored as '') are shown under. */
  defaultDomain: string
}

type Asker = Pick<Actor, 'workspaceId'>

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
  const answers = await needs.hits.ask(query).catch((error: unknown) => {
    throw error instanceof Failure ? error : unavailable(error)
  })
  switch (question.groupBy) {
    case 'total':
      return { ...counts(answers[0]), start: iso(selection.start), end: iso(selection.end) }
    case 'time':
      return fillBuckets(starts, answers)
    case 'linkId':
      return nameLinks(needs, actor, answers)
    case 'tagId':
      return nameTags(needs, actor, answers)
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

/** Which hits are meant, in ids and milliseconds. @throws `invalid` for a range that is empty */
export async function resolveSelection(
  needs: Pick<Needs, 'rows' | 'now' | 'defaultDomain'>,
  actor: Asker,
  selection: ClickSelection,
): Promise<HitSelection> {
  const { start, end } = await resolveRange(needs, actor, selection)
  return {
    workspaceId: actor.workspaceId,
    start,
    end,
    classes: selection.classes,
    filters: await Promise.all(selection.filters.map((filter) => resolveFilter(needs, actor, filter))),
  }
}

/** A missing start is the workspace's beginning, a missing end is now. */
async function resolveRange(
  needs: Pick<Needs, 'rows' | 'now'>,
  actor: Asker,
  { range, timezone }: ClickSelection,
): Promise<Range> {
  const now = needs.now()
  const began = async () => {
    const workspace = await needs.rows.read
      .selectFrom('workspaces')
      .select('created_at')
      .where('id', '=', actor.workspaceId)
      .executeTakeFirstOrThrow()
    return workspace.created_at
  }
  if ('interval' in range) {
    return rangeOfInterval(range.interval, timezone, now, range.interval === 'all' ? await began() : now)
  }
  const start = range.start ?? (await began())
  const end = range.end ?? untilNow(now)
  if (start < end) return { start, end }
  if (range.end === null) throw invalid({ start: 'must be in the past when end is not given' })
  throw invalid(
    range.start === null
      ? { end: 'must be after the workspace was created' }
      : { start: 'must be before end' },
  )
}

function startsOf({ start, end }: Range, { granularity, timezone }: AnalyticsQuestion): number[] {
  const range = { start, end }
  const asked = granularity ?? granularityOf(range)
  const coarser = coarserThan(asked, range)
  if (!coarser) return bucketStarts(range, asked, timezone)
  throw invalid({
    granularity: `${asked} makes more than ${BUCKETS_MAX} buckets of this range; the finest that fits is ${coarser}`,
  })
}

async function resolveFilter(
  { rows, defaultDomain }: Pick<Needs, 'rows' | 'defaultDomain'>,
  { workspaceId }: Asker,
  { name, values, negate }: AnalyticsQuestion['filters'][number],
): Promise<HitFilter> {
  const ofLinks = (found: { id: number }[]): HitFilter => ({
    column: 'linkId',
    values: found.map((each) => each.id),
    negate,
  })
  const links = rows.read.selectFrom('links').select('id').where('workspace_id', '=', workspaceId)
  const texts = values.map(String)
  switch (name) {
    case 'tagId':
      return ofLinks(
        await rows.read
          .selectFrom('link_tags')
          .select('link_id as id')
          .distinct()
          .where('workspace_id', '=', workspaceId)
          .where('tag_id', 'in', values.map(Number))
          .execute(),
      )
    case 'domain': {
      const stored = texts.map((text) => (text === defaultDomain.toLowerCase() ? '' : text))
      return ofLinks(await links.where('domain', 'in', stored).execute())
    }
    case 'slug':
      return ofLinks(await links.where('slug_key', 'in', texts).execute())
    default:
      return { column: name, values, negate }
  }
}

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

async function nameLinks({ rows, defaultDomain }: Needs, { workspaceId }: Asker, answers: HitAnswer[]) {
  if (answers.length === 0) return []
  const ids = answers.map((each) => Number(each.key))
  const links = await rows.read
    .selectFrom('links')
    .select(['id', 'slug', 'domain', 'destination_url', 'deleted_at'])
    .where('workspace_id', '=', workspaceId)
    .where('id', 'in', ids)
    .execute()
  const known = new Map(links.map((link) => [link.id, link]))
  return answers.map((each) => {
    const link = known.get(Number(each.key))
    return {
      link: Number(each.key),
      slug: link?.slug ?? null,
      domain: link ? link.domain || defaultDomain : null,
      destinationUrl: link?.destination_url ?? null,
      deleted: !link || link.deleted_at !== null,
      ...counts(each),
    }
  })
}

async function nameTags({ rows }: Needs, { workspaceId }: Asker, answers: HitAnswer[]) {
  if (answers.length === 0) return []
  const ids = answers.map((each) => Number(each.key))
  const tags = await rows.read
    .selectFrom('tags')
    .select(['id', 'name'])
    .where('workspace_id', '=', workspaceId)
    .where('id', 'in', ids)
    .execute()
  const known = new Map(tags.map((tag) => [tag.id, tag.name]))
  return answers.map((each) => ({
    tag: Number(each.key),
    name: known.get(Number(each.key)) ?? null,
    ...counts(each),
  }))
}
