// Resolves the selection of a question: names of links and tags become ids, and ranges become milliseconds.

import { invalid } from '../../lib/failure.ts'
import type { Database } from '../../storage/database/database.ts'
import { type FilterName, type FilterValues, toNullLabel } from '../../storage/filter-grammar.ts'
import type { ColumnFilter } from '../../storage/filter-sql.ts'
import type { Actor } from '../accounts/access/actor.ts'
import { toSlugKey } from '../links/slug.ts'
import { NO_LINK } from './attribution-model.ts'
import type { NotedHits } from './explain.ts'
import type { QuestionSelection } from './parameters.ts'
import {
  BUCKETS_MAX,
  chooseGranularity,
  findFittingGranularity,
  type Granularity,
  listBucketStarts,
  resolveInterval,
  type TimeRange,
  untilNow,
} from './timeline.ts'

/** What every answer of analytics is made from. */
export interface AnswerContext {
  db: Database
  hits: NotedHits
  now: () => number
  /** The name of the default domain, which is stored as ''. */
  defaultDomain: string
}

export type WorkspaceScope = Pick<Actor, 'workspaceId'>

type LinkFilterName = 'tagId' | 'domain' | 'slug'
/** The column of a filter after names of links have become ids. */
export type ResolvedName<Name extends FilterName> = Exclude<Name, LinkFilterName> | 'linkId'

export interface ResolvedSelection<Name extends FilterName> extends TimeRange {
  workspaceId: number
  filters: ColumnFilter<ResolvedName<Name>>[]
}

/** Includes deleted links. @throws Failure `invalid` for an empty range */
export async function resolveSelection<Name extends FilterName>(
  needs: AnswerContext,
  actor: WorkspaceScope,
  selection: QuestionSelection<Name>,
): Promise<ResolvedSelection<Name>> {
  const { start, end } = await resolveRange(needs, actor, selection)
  return {
    workspaceId: actor.workspaceId,
    start,
    end,
    filters: await Promise.all(selection.filters.map((filter) => resolveFilter(needs, actor, filter))),
  }
}

/** A missing start is the beginning of the workspace, and a missing end is now. */
export async function resolveRange(
  needs: AnswerContext,
  actor: WorkspaceScope,
  { range, timezone }: Pick<QuestionSelection, 'range' | 'timezone'>,
): Promise<TimeRange> {
  const now = needs.now()
  const getBeginning = () => findBeginning(needs, actor)
  if ('interval' in range) {
    return resolveInterval(
      range.interval,
      timezone,
      now,
      range.interval === 'all' ? await getBeginning() : now,
    )
  }
  const start = range.start ?? (await getBeginning())
  const end = range.end ?? untilNow(now)
  if (start < end) return { start, end }
  if (range.end === null) throw invalid({ start: 'must be in the past when end is not given' })
  throw invalid(
    range.start === null
      ? { end: 'must be after the workspace was created' }
      : { start: 'must be before end' },
  )
}

/** The creation of the workspace, or the first click that an import has brought. */
async function findBeginning({ db }: AnswerContext, { workspaceId }: WorkspaceScope): Promise<number> {
  const workspace = await db.read
    .selectFrom('workspaces')
    .select('created_at')
    .where('id', '=', workspaceId)
    .executeTakeFirstOrThrow()
  const imported = await db.read
    .selectFrom('imports')
    .select(({ fn }) => fn.min<number | null>('first_at').as('first_at'))
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirst()
  return Math.min(workspace.created_at, Number(imported?.first_at ?? workspace.created_at))
}

async function resolveFilter<Name extends FilterName>(
  { db, defaultDomain }: AnswerContext,
  { workspaceId }: WorkspaceScope,
  { name, values, negate }: { name: Name } & FilterValues,
): Promise<ColumnFilter<ResolvedName<Name>>> {
  const texts = values.map(String)
  /** What answers call the leads without a link. Domains are compared in lower case. */
  const noLinkLabel = name === 'domain' ? toNullLabel(name).toLowerCase() : toNullLabel(name)
  const toLinkFilter = (links: { id: number }[]): ColumnFilter<ResolvedName<Name>> => ({
    column: 'linkId',
    values: [...links.map(({ id }) => id), ...(texts.includes(noLinkLabel) ? [NO_LINK] : [])],
    negate,
  })
  const links = db.read.selectFrom('links').select('id').where('workspace_id', '=', workspaceId)
  switch (name) {
    case 'tagId':
      return toLinkFilter(
        await db.read
          .selectFrom('link_tags')
          .select('link_id as id')
          .distinct()
          .where('workspace_id', '=', workspaceId)
          .where('tag_id', 'in', values.map(Number))
          .execute(),
      )
    case 'domain': {
      const stored = texts.map((text) => (text === defaultDomain.toLowerCase() ? '' : text))
      return toLinkFilter(await links.where('domain', 'in', stored).execute())
    }
    case 'slug':
      return toLinkFilter(await findLinksBySlug(db, workspaceId, texts))
    default:
      return { column: name as ResolvedName<Name>, values, negate }
  }
}

/** Most domains do not tell the case of a slug apart. */
async function findLinksBySlug({ read }: Database, workspaceId: number, slugs: string[]) {
  const domains = read
    .selectFrom('domains')
    .select('domain')
    .where('workspace_id', '=', workspaceId)
    .where('case_sensitive', '=', 1)
  const toKeys = (caseSensitive: boolean) => slugs.map((slug) => toSlugKey(slug, caseSensitive))
  return read
    .selectFrom('links')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where((e) =>
      e.or([
        e('slug_key', 'in', toKeys(false)).and('domain', 'not in', domains),
        e('slug_key', 'in', toKeys(true)).and('domain', 'in', domains),
      ]),
    )
    .execute()
}

/** @throws Failure `invalid` when the granularity gives too many buckets */
export function resolveBucketStarts(
  { start, end }: TimeRange,
  { granularity, timezone }: { granularity: Granularity | null; timezone: string },
): number[] {
  const range = { start, end }
  const chosen = granularity ?? chooseGranularity(range)
  const finest = findFittingGranularity(chosen, range)
  if (finest === chosen) return listBucketStarts(range, chosen, timezone)
  const fix = finest === undefined ? 'choose a shorter range' : `the finest that fits is ${finest}`
  throw invalid({ granularity: `${chosen} makes more than ${BUCKETS_MAX} buckets of this range; ${fix}` })
}
