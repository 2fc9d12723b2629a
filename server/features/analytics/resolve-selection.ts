// Which rows a question means: names of links and tags become ids, ranges become milliseconds.

import { invalid } from '../../lib/failure.ts'
import type { Database } from '../../storage/database/database.ts'
import type { ColumnFilter } from '../../storage/filter-sql.ts'
import type { Actor } from '../accounts/access/actor.ts'
import type { FilterName, FilterValues } from './filter.ts'
import type { QuestionSelection } from './parameters.ts'
import {
  BUCKETS_MAX,
  chooseGranularity,
  findCoarserGranularity,
  type Granularity,
  listBucketStarts,
  resolveInterval,
  type TimeRange,
  untilNow,
} from './timeline.ts'

export interface SelectionNeeds {
  db: Pick<Database, 'read'>
  now: () => number
  /** What links of the default domain (stored as '') are shown under. */
  defaultDomain: string
}

export type WorkspaceScope = Pick<Actor, 'workspaceId'>

type NamesOfLinks = 'tagId' | 'domain' | 'slug'
/** What a filter is about once links are ids. */
export type ResolvedName<Name extends FilterName> = Exclude<Name, NamesOfLinks> | 'linkId'

export interface ResolvedSelection<Name extends FilterName> extends TimeRange {
  workspaceId: number
  filters: ColumnFilter<ResolvedName<Name>>[]
}

/** Deleted links are found as well. @throws `invalid` for a range that is empty */
export async function resolveSelection<Name extends FilterName>(
  needs: SelectionNeeds,
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

/** A missing start is the workspace's beginning, a missing end is now. */
async function resolveRange(
  needs: Pick<SelectionNeeds, 'db' | 'now'>,
  actor: WorkspaceScope,
  { range, timezone }: Pick<QuestionSelection, 'range' | 'timezone'>,
): Promise<TimeRange> {
  const now = needs.now()
  const began = async () => {
    const workspace = await needs.db.read
      .selectFrom('workspaces')
      .select('created_at')
      .where('id', '=', actor.workspaceId)
      .executeTakeFirstOrThrow()
    return workspace.created_at
  }
  if ('interval' in range) {
    return resolveInterval(range.interval, timezone, now, range.interval === 'all' ? await began() : now)
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

async function resolveFilter<Name extends FilterName>(
  { db, defaultDomain }: Pick<SelectionNeeds, 'db' | 'defaultDomain'>,
  { workspaceId }: WorkspaceScope,
  { name, values, negate }: { name: Name } & FilterValues,
): Promise<ColumnFilter<ResolvedName<Name>>> {
  const ofLinks = (found: { id: number }[]): ColumnFilter<ResolvedName<Name>> => ({
    column: 'linkId',
    values: found.map((each) => each.id),
    negate,
  })
  const links = db.read.selectFrom('links').select('id').where('workspace_id', '=', workspaceId)
  const texts = values.map(String)
  switch (name) {
    case 'tagId':
      return ofLinks(
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
      return ofLinks(await links.where('domain', 'in', stored).execute())
    }
    case 'slug':
      return ofLinks(await links.where('slug_key', 'in', texts).execute())
    default:
      return { column: name as ResolvedName<Name>, values, negate }
  }
}

/** @throws `invalid` for a granularity that makes too many buckets of the range */
export function resolveBucketStarts(
  { start, end }: TimeRange,
  { granularity, timezone }: { granularity: Granularity | null; timezone: string },
): number[] {
  const range = { start, end }
  const asked = granularity ?? chooseGranularity(range)
  const coarser = findCoarserGranularity(asked, range)
  if (!coarser) return listBucketStarts(range, asked, timezone)
  throw invalid({
    granularity: `${asked} makes more than ${BUCKETS_MAX} buckets of this range; the finest that fits is ${coarser}`,
  })
}
