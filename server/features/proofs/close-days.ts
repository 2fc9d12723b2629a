// Closes the days of all workspaces: a UTC day closes six hours after its end, once all nodes have shipped its hits. What
// changes a closed day for a known reason, an import or the retention, becomes a new entry.

import { takeTurn } from '../../lib/concurrency/take-turn.ts'
import { Failure } from '../../lib/failure.ts'
import { describeError, log } from '../../lib/log.ts'
import { DAY_MS, toUtcDay } from '../../lib/utc-day.ts'
import type { Connection, Database } from '../../storage/database/open-database.ts'
import type { HitReader } from '../../storage/hits/hit-engine.ts'
import { countHitsByDay, digestDay, toDayStart } from './day-digest.ts'
import {
  appendProofs,
  type ProofContent,
  type ProofKind,
  type ProofRow,
  readLatestProofs,
} from './proof-chain.ts'

export interface CloseNeeds {
  db: Database
  hits: Pick<HitReader, 'ask' | 'countedUntil'>
  now: () => number
  hitRetentionDays: number | undefined
}

export const CLOSES_AFTER_MS = 6 * 60 * 60 * 1000
/** The job runs every hour: a workspace catches up with a month in each run. */
const DAYS_PER_RUN = 31
/** Hits of an import are loaded, or erased, some minutes after it has ended. */
const IMPORT_SETTLES_MS = 10 * 60 * 1000
const IMPORTS_SINCE_MS = 3 * DAY_MS

export async function closeDays(needs: CloseNeeds): Promise<void> {
  const workspaces = await listWorkspaces(needs.db.read)
  for (const workspaceId of workspaces) {
    await takeTurn()
    try {
      await closeWorkspaceDays(needs, workspaceId)
    } catch (error) {
      // The others would fail as well: the job runs again soon.
      if (error instanceof Failure && error.code === 'unavailable') throw error
      log.warn('days_not_closed', { workspace: workspaceId, ...describeError(error) })
    }
  }
}

const listWorkspaces = async (connection: Connection) =>
  (await connection.selectFrom('workspaces').select('id').orderBy('id').execute()).map(({ id }) => id)

async function closeWorkspaceDays(needs: CloseNeeds, workspaceId: number): Promise<void> {
  const { db, hits, now } = needs
  const lastDay = await findLastDay(db.read, workspaceId, 'closed')
  const contents: ProofContent[] = []
  for (const day of listClosable(lastDay, Math.min(now(), hits.countedUntil() + CLOSES_AFTER_MS))) {
    const digest = await digestDay(hits, workspaceId, day)
    contents.push({ day, kind: 'closed', reason: null, removed: null, ...digest })
  }
  await appendProofs(db, workspaceId, contents, now())
  await appendProofs(db, workspaceId, await listExpired(needs, workspaceId), now())
  for (const reason of await listImportReasons(db.read, workspaceId, now())) {
    const latest = await readLatestProofs(db.read, workspaceId)
    await appendProofs(db, workspaceId, await listChanged(needs, workspaceId, latest, reason), now())
  }
}

async function findLastDay(
  read: Connection,
  workspaceId: number,
  kind: ProofKind,
): Promise<string | undefined> {
  const row = await read
    .selectFrom('day_proofs')
    .select('day')
    .where('workspace_id', '=', workspaceId)
    .where('kind', '=', kind)
    .orderBy('day', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.day
}

/** The days after the last closed one. A new chain begins with yesterday: older days were never closed. */
function listClosable(lastDay: string | undefined, at: number): string[] {
  const lastClosable = toDayStart(toUtcDay(at - CLOSES_AFTER_MS)) - DAY_MS
  const first = lastDay === undefined ? lastClosable : toDayStart(lastDay) + DAY_MS
  const days: string[] = []
  for (let day = first; day <= lastClosable && days.length < DAYS_PER_RUN; day += DAY_MS)
    days.push(toUtcDay(day))
  return days
}

/** Days that the retention has begun to remove: how many hits are gone, and why. */
async function listExpired(
  { db, now, hitRetentionDays }: CloseNeeds,
  workspaceId: number,
): Promise<ProofContent[]> {
  if (hitRetentionDays === undefined) return []
  const lastExpired = (await findLastDay(db.read, workspaceId, 'expired')) ?? ''
  const rows = await db.read
    .selectFrom('day_proofs')
    .select('day')
    .where('workspace_id', '=', workspaceId)
    .where('kind', '=', 'closed')
    .where('day', '>', lastExpired)
    .where('day', '<=', toUtcDay(now() - hitRetentionDays * DAY_MS - 1))
    .orderBy('day')
    .execute()
  if (rows.length === 0) return []
  const latest = await readLatestProofs(db.read, workspaceId)
  const reason = `HIT_RETENTION_DAYS=${hitRetentionDays}`
  return rows.flatMap(({ day }): ProofContent[] => {
    const proof = latest.get(day)
    return proof ? [{ day, kind: 'expired', reason, hits: 0, removed: proof.hits, digest: proof.digest }] : []
  })
}

async function listImportReasons(read: Connection, workspaceId: number, now: number): Promise<string[]> {
  const [from, to] = [now - IMPORTS_SINCE_MS, now - IMPORT_SETTLES_MS]
  const rows = await read
    .selectFrom('imports')
    .select(['id', 'finished_at', 'undone_at'])
    .where('workspace_id', '=', workspaceId)
    .where('dry_run', '=', 0)
    .where('clicks', '>', 0)
    .where((e) => e.or([e.between('finished_at', from, to), e.between('undone_at', from, to)]))
    .orderBy('id')
    .execute()
  return rows.map(({ id, undone_at }) => (undone_at === null ? `import ${id}` : `import ${id} undone`))
}

/** Closed days that have another number of hits now. Days that differ in another way are for `verify` to name. */
export async function listChanged(
  { hits }: Pick<CloseNeeds, 'hits'>,
  workspaceId: number,
  latest: Map<string, ProofRow>,
  reason: string,
): Promise<ProofContent[]> {
  const closed = [...latest.values()].filter(({ kind }) => kind !== 'expired')
  const counts = await countHitsByDay(hits, workspaceId, closed.map(({ day }) => day).sort())
  const changed: ProofContent[] = []
  for (const row of closed) {
    if ((counts.get(row.day) ?? 0) === row.hits) continue
    const digest = await digestDay(hits, workspaceId, row.day)
    const content = { day: row.day, kind: 'changed' as const, reason, removed: null, ...digest }
    changed.push(content)
    latest.set(row.day, { ...row, ...content })
  }
  return changed
}
