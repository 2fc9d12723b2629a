// Answers a question about clicks: turns names of links and tags into ids, lets the hit engine count, and adds the
// names.

import { createPacer } from '../../lib/concurrency/next-turn.ts'
import { Failure, unavailable } from '../../lib/failure.ts'
import { toIso } from '../../lib/iso-time.ts'
import { toNullLabel } from '../../storage/filter-grammar.ts'
import type { HitAnswer, HitGrouping, HitQuery, HitSelection } from '../../storage/hits/hit-engine.ts'
import { isParamColumn } from '../../storage/hits/kept-params.ts'
import type { NotedHits } from './explain.ts'
import { requireKeptParams } from './kept-params.ts'
import { listLinkSlugs, loadLinkNames, loadLinkTags, loadTagNames } from './names.ts'
import {
  type AnswerContext,
  resolveBucketStarts,
  resolveSelection,
  type WorkspaceScope,
} from './resolve-selection.ts'
import type { ClickAnswerData, ClickQuestion, ClickSelection } from './schema.ts'
import { fillBuckets } from './timeline.ts'

/**
 * Counts clicks of deleted links too, also under their domain, slug and tags.
 * @throws Failure `invalid` for a range that is empty or has too many buckets, `unavailable` when the engine cannot
 * answer
 */
export async function answerClicks(
  needs: AnswerContext,
  actor: WorkspaceScope,
  question: ClickQuestion,
): Promise<ClickAnswerData> {
  const selection = await resolveClickSelection(needs, actor, question)
  if (isParamColumn(question.groupBy)) await requireKeptParams(needs, actor, [question.groupBy])
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
      return answers.map((answer) => ({ [name]: String(answer.key), ...toCounts(answer) }))
    }
  }
}

const toCounts = (answer: HitAnswer | undefined) => ({
  clicks: answer?.clicks ?? 0,
  visitors: answer?.visitors ?? 0,
})

const toId = (answer: { key: HitAnswer['key'] }) => Number(answer.key)

const withNames = <Name>(answers: HitAnswer[], getName: (id: number) => Name) =>
  answers.map((answer) => ({ ...getName(toId(answer)), ...toCounts(answer) }))

/** @throws Failure `unavailable` when the engine cannot answer */
export const askHits = (
  { hits }: { hits: NotedHits },
  query: HitQuery,
  part?: string,
): Promise<HitAnswer[]> =>
  hits.ask(query, part).catch((error: unknown) => {
    throw error instanceof Failure ? error : unavailable(error)
  })

/**
 * Turns the selection into ids and milliseconds.
 * @throws Failure `invalid` for an empty range, and for a parameter that the workspace does not keep
 */
export async function resolveClickSelection(
  needs: AnswerContext,
  actor: WorkspaceScope,
  selection: ClickSelection,
): Promise<HitSelection> {
  const params = selection.filters.map(({ name }) => name).filter(isParamColumn)
  if (params.length > 0) await requireKeptParams(needs, actor, params)
  return {
    ...(await resolveSelection(needs, actor, selection)),
    classes: selection.classes,
    imported: selection.imported,
  }
}

async function toGrouping(
  { db, defaultDomain }: AnswerContext,
  { workspaceId }: WorkspaceScope,
  { groupBy, limit }: ClickQuestion,
  starts: number[],
): Promise<HitGrouping> {
  switch (groupBy) {
    case 'total':
      return { by: 'total' }
    case 'time':
      return { by: 'time', starts }
    case 'tagId':
      return { by: 'linkGroup', groups: await loadLinkTags(db, workspaceId), limit }
    case 'domain':
    case 'slug': {
      // Links on several domains or of several times can spell one slug differently. The answer has the newest
      // spelling.
      const slugs = new Map<string, string>()
      const groups: { linkId: number; group: string }[] = []
      for await (const links of listLinkSlugs(db, workspaceId)) {
        for (const { id, domain, slug, slug_key } of links) {
          if (groupBy === 'slug') slugs.set(slug_key, slug)
          groups.push({ linkId: id, group: groupBy === 'domain' ? domain || defaultDomain : slug_key })
        }
      }
      const pace = createPacer()
      for (const each of groupBy === 'slug' ? groups : []) {
        each.group = slugs.get(each.group) as string
        await pace()
      }
      return { by: 'linkGroup', groups, limit }
    }
    default:
      return { by: groupBy, limit, nullAs: toNullLabel(groupBy) }
  }
}
