// Finds the first one of identical submissions within half a minute. On PostgreSQL an index of fingerprints answers. An
// SQLite file has one process, which remembers the hashes: an index in their order would write one page more for each row.

import { type RawBuilder, sql } from 'kysely'
import type { Connection, Database, DatabaseEngine } from '../../../storage/database/open-database.ts'
import { isOneOf, prepareQuery, prepareText } from '../../../storage/database/prepare-query.ts'
import type { SaltLookup } from '../../visitors/salts.ts'

const DUPLICATE_WITHIN_MS = 30_000

export interface Fingerprint {
  workspaceId: number
  /** The time, and the hash. Fingerprints of one time stand beside each other in the index. */
  text: string
  /** The hash under the salt of the day. */
  hash: string
  /** The hash that a submission of half a minute ago has: its day may have been another one. */
  earlierHash: string
  at: number
}

/** @param content what makes two submissions identical */
export function toFingerprint(
  engine: DatabaseEngine,
  workspaceId: number,
  content: string,
  getSalt: SaltLookup,
  at: number,
): Fingerprint {
  const [salt, earlierSalt] = [getSalt(at), getSalt(at - DUPLICATE_WITHIN_MS)]
  const hash = hashContent(salt, content)
  const earlierHash = earlierSalt === salt ? hash : hashContent(earlierSalt, content)
  const text = (engine === 'sqlite' ? toTime(at) : toHalfMinute(at)) + hash
  return { workspaceId, text, hash, earlierHash, at }
}

const hashContent = (salt: string, content: string) =>
  new Bun.CryptoHasher('sha256', salt).update(content).digest('hex')

const TIME_LENGTH = 8
const toTime = (at: number) => Math.max(0, at).toString(36).padStart(TIME_LENGTH, '0')
const readTime = (fingerprint: string) => Number.parseInt(fingerprint.slice(0, TIME_LENGTH), 36)
/** PostgreSQL looks for a fingerprint as a whole, and two half minutes hold those of half a minute. */
const toHalfMinute = (at: number) => toTime(Math.floor(at / DUPLICATE_WITHIN_MS))

/**
 * In the transaction that stores the submission.
 * @returns the id of the first identical submission within DUPLICATE_WITHIN_MS; null where there is none
 */
export async function findFirstDuplicate(
  db: Database,
  connection: Connection,
  fingerprint: Fingerprint,
): Promise<number | null> {
  const { workspaceId, hash, earlierHash, at } = fingerprint
  if (db.engine === 'postgres') {
    await toLocks([fingerprint]).execute(connection)
    const earlier = toEarlierText(fingerprint)
    const [row] = await selectFirst(connection, { text: fingerprint.text, earlier, at, workspaceId })
    return row?.first ?? null
  }
  const since = at - DUPLICATE_WITHIN_MS
  const recent = RECENT.get(db) ?? (await loadRecent(connection, at))
  RECENT.set(db, recent)
  const ids = recent.find(fingerprint)
  if (ids?.length === 0) return null
  const until = at + DUPLICATE_WITHIN_MS
  const query = { hash, earlierHash, since, until, workspaceId }
  const [row] = ids
    ? await selectById(connection, { ...query, ids })
    : await selectByTime(connection, { ...query, earliest: toTime(since), latest: toTime(until) })
  return row?.first ?? null
}

/**
 * In PostgreSQL, concurrent transactions do not see each other's rows. These locks make one wait for the other's commit. They
 * are taken in one order, so no two transactions wait for each other.
 */
export function toLocks(fingerprints: Fingerprint[]) {
  const locks = fingerprints.map(({ hash }) => Buffer.from(hash, 'hex').readBigInt64BE(0)).sort()
  return sql`select pg_advisory_xact_lock(lock) from unnest(${locks.map(String)}::bigint[]) as lock`
}

/** The text of the fingerprint of an identical submission half a minute ago. */
export const toEarlierText = ({ at, earlierHash }: Fingerprint) =>
  toHalfMinute(at - DUPLICATE_WITHIN_MS) + earlierHash

/**
 * The query for the first identical submission in PostgreSQL. A plus hides a column from its indexes: while PostgreSQL has no
 * statistics of the table, it would read all submissions of the workspace.
 */
export const toFirstInPostgres = (sent: Record<'texts' | 'at' | 'workspaceId', RawBuilder<unknown>>) =>
  sql<{ first: number | null }>`select min(coalesce(duplicate_of, id)) as first from submissions
    where fingerprint = any(${sent.texts}) and +created_at > ${sent.at} - ${sql.lit(DUPLICATE_WITHIN_MS)}
      and +workspace_id = ${sent.workspaceId}`

const selectFirst = prepareText(
  (_, sent: { text: string; earlier: string; at: number; workspaceId: number }) =>
    toFirstInPostgres({
      texts: sql`array[${sent.text}, ${sent.earlier}]`,
      at: sql`${sent.at}::bigint`,
      workspaceId: sql`${sent.workspaceId}`,
    }),
)

/** Call it in the same transaction. Where that fails, later submissions find no such row. */
export const noteStored = (db: Database, fingerprint: Fingerprint, id: number): void =>
  RECENT.get(db)?.add(fingerprint, id)

/** The recent submissions of each SQLite database. */
const RECENT = new WeakMap<Database, RecentSubmissions>()

/** Loads the submissions of the process before. A submission may name an earlier time, so the newest row decides. */
async function loadRecent(connection: Connection, at: number): Promise<RecentSubmissions> {
  const [newest] = await selectNewest(connection, {})
  const since = Math.max(at, newest ? readTime(newest.fingerprint) : 0) - DUPLICATE_WITHIN_MS
  const recent = createRecentSubmissions(since)
  for (const { id, fingerprint } of await selectSince(connection, { fingerprint: toTime(since) }))
    recent.add({ hash: fingerprint.slice(TIME_LENGTH), at: readTime(fingerprint) }, id)
  return recent
}

/** Transactions take turns in another order than their times. */
const GENERATION_MS = DUPLICATE_WITHIN_MS + 5_000

type RecentSubmissions = ReturnType<typeof createRecentSubmissions>

/**
 * Ids of submissions by a part of their hash. It covers all times since the generation before the current one.
 * @param from the time since which all submissions are going to be added
 */
function createRecentSubmissions(from: number) {
  let previousFrom = from
  let currentFrom = from
  let current = new Map<number, number[]>()
  let previous = new Map<number, number[]>()
  return {
    add({ hash, at }: Pick<Fingerprint, 'hash' | 'at'>, id: number): void {
      if (at < previousFrom) return
      if (at >= currentFrom + GENERATION_MS) {
        previousFrom = currentFrom
        previous = current
        currentFrom = at
        current = new Map()
      }
      const key = toKey(hash)
      const ids = current.get(key)
      if (ids) ids.push(id)
      else current.set(key, [id])
    },
    /** @returns ids that may be of other submissions, and of none: the database knows; undefined for times before all */
    find({ hash, earlierHash, at }: Fingerprint): number[] | undefined {
      if (at - DUPLICATE_WITHIN_MS < previousFrom) return undefined
      const keys = hash === earlierHash ? [toKey(hash)] : [toKey(hash), toKey(earlierHash)]
      return keys.flatMap((key) => [...(previous.get(key) ?? []), ...(current.get(key) ?? [])])
    },
  }
}

/** As many digits as a number holds exactly. */
const toKey = (hash: string) => Number.parseInt(hash.slice(0, 13), 16)

const first = sql<number | null>`min(coalesce(duplicate_of, id))`.as('first')

interface HashQuery extends Record<string, unknown> {
  since: number
  workspaceId: number
  until: number
  hash: string
  earlierHash: string
}

const selectSame = (connection: Connection, query: HashQuery) =>
  connection
    .selectFrom('submissions')
    .select(first)
    .where(sql`substr(fingerprint, ${sql.lit(TIME_LENGTH + 1)})`, 'in', [query.hash, query.earlierHash])
    .where('created_at', '>', query.since)
    .where('created_at', '<', query.until)
    .where(sql`+workspace_id`, '=', query.workspaceId)

const selectById = prepareQuery((connection, query: HashQuery & { ids: number[] }) =>
  selectSame(connection, query).where(isOneOf(connection, 'id', query.ids)),
)

const selectByTime = prepareQuery((connection, query: HashQuery & { earliest: string; latest: string }) =>
  selectSame(connection, query)
    .where('fingerprint', '>', query.earliest)
    .where('fingerprint', '<', query.latest),
)

const selectSince = prepareQuery(selectFingerprints)
function selectFingerprints(connection: Connection, { fingerprint }: { fingerprint: string }) {
  return connection
    .selectFrom('submissions')
    .select(['id', 'fingerprint'])
    .where('fingerprint', '>=', fingerprint)
}

const selectNewest = prepareQuery(selectNewestFingerprint)
function selectNewestFingerprint(connection: Connection) {
  return connection.selectFrom('submissions').select('fingerprint').orderBy('fingerprint', 'desc').limit(1)
}
