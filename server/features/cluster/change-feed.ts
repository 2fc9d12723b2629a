// Follows what other processes change. Their transactions write rows into `changes`, and this process polls the rows and
// voids what its caches hold. There is no NOTIFY: its global lock cuts commits to a third (docs/adr/0032-change-feed.md).

import { sql } from 'kysely'
import type { Metric } from '../../http/health-and-metrics.ts'
import { gauge } from '../../http/telemetry/metric.ts'
import { nextTurn } from '../../lib/concurrency/next-turn.ts'
import { describeError, log } from '../../lib/log.ts'
import type { Database } from '../../storage/database/open-database.ts'
import {
  type ChangeCursor,
  type ChangeRow,
  createChangeCursor,
  HOLE_MS,
  type ReadPosition,
} from './change-cursor.ts'
import { DATABASE_NOW } from './database-clock.ts'
import { CHANGES_KEPT_MS } from './prune-changes.ts'

export interface ChangeFeedNeeds {
  db: Database
  invalidateLink(domain: string, slugKey: string): void
  invalidateWorkspace(workspaceId: number): void
  /** Changes may have been missed. */
  invalidateAll(): void
  /** Pause between two polls, milliseconds. */
  everyMs?: number
  /** Monotonic milliseconds; the caches have the same clock. */
  clock?: () => number
}

export interface ChangeFeed {
  /** Every change that another process committed before this moment, on the feed's clock, has been applied here. */
  followedUntil(): number
  /** Resolves when every change that is committed now has been applied; rejects when the database fails. */
  poll(): Promise<void>
  metrics(): Metric[]
  /** Ends the polls. */
  close(): Promise<void>
}

/**
 * On SQLite, only the command line is another process: a person who waits a second. On PostgreSQL, an edit must show on
 * every node within a second.
 */
const EVERY_MS = { sqlite: 1_000, postgres: 250 }
const ROWS_AT_ONCE = 1_000
/** The lag of a feed before its first step: JSON and Prometheus share no notation of infinity. */
const UNKNOWN_LAG_MS = 24 * 60 * 60_000

interface FeedState extends Required<ChangeFeedNeeds> {
  cursor: ChangeCursor
  followedUntil: number
  /** Until then, changes may be missed without a sign, so that the feed says that it follows nothing. */
  distrustedUntil: number | undefined
  failing: boolean
}

/** Open it before the caches have entries. */
export async function openChangeFeed(needs: ChangeFeedNeeds): Promise<ChangeFeed> {
  const state = await startFeed(needs)
  let running: Promise<void> | undefined
  let timer: Timer | undefined
  let closed = false

  const poll = () => {
    running ??= readOn(state).finally(() => {
      running = undefined
    })
    return running
  }
  async function pollAndSchedule() {
    await poll().then(
      () => reportRecovery(state),
      (error) => reportFailure(state, error),
    )
    if (!closed) timer = setTimeout(pollAndSchedule, state.everyMs)
  }
  timer = setTimeout(pollAndSchedule, state.everyMs)

  return {
    followedUntil: () => state.followedUntil,
    // A poll that runs may have read before the caller's moment.
    poll: async () => {
      await running?.catch(() => {})
      await poll()
    },
    metrics: () => readFeedMetrics(state),
    async close() {
      closed = true
      clearTimeout(timer)
      await running?.catch(() => {})
    },
  }
}

async function startFeed(needs: ChangeFeedNeeds): Promise<FeedState> {
  const { db, clock = () => performance.now(), everyMs = EVERY_MS[db.engine] } = needs
  const { start, migratedAgoMs } = await findStart(db)
  const state: FeedState = {
    ...needs,
    clock,
    everyMs,
    cursor: createChangeCursor(start),
    followedUntil: Number.NEGATIVE_INFINITY,
    distrustedUntil: migratedAgoMs < CHANGES_KEPT_MS ? clock() + CHANGES_KEPT_MS - migratedAgoMs : undefined,
    failing: false,
  }
  await readOn(state)
  return state
}

/**
 * Starts at the newest row that is older than the longest transaction: no lower number can appear any more. Servers
 * of the previous release write no rows, and may run beside this one for a while after the migration.
 */
async function findStart(db: Database): Promise<{ start: ReadPosition; migratedAgoMs: number }> {
  const age = sql<number>`${DATABASE_NOW[db.engine]} - at`
  const changes = db.read
    .selectFrom('changes')
    .select(['seq', 'at', 'domain', 'workspace_id', age.as('age')])
    .limit(1)
  const first = await changes.orderBy('seq').executeTakeFirstOrThrow()
  const settled = await changes.where(age, '>', HOLE_MS).orderBy('seq', 'desc').executeTakeFirst()
  const isMigration = first.domain === null && first.workspace_id === null
  return {
    start: settled ?? first,
    migratedAgoMs: isMigration ? first.age : Number.POSITIVE_INFINITY,
  }
}

/** Applies every change that is committed when it starts. */
async function readOn(state: FeedState): Promise<void> {
  const { db, clock } = state
  const startedAt = clock()
  for (;;) {
    const { seq, at } = state.cursor.last()
    const [known, ...rows] = await selectChanges(db)
      .where('seq', '>=', seq)
      .orderBy('seq')
      .limit(ROWS_AT_ONCE)
      .execute()
    if (known?.seq !== seq || known.at !== at) await startAgain(state)
    else {
      for (const row of rows) applyChange(state, row)
      state.cursor.advance(rows, clock())
      if (rows.length < ROWS_AT_ONCE - 1) break
    }
    await nextTurn()
  }
  await fillHoles(state)
  trust(state, startedAt)
}

const selectChanges = (db: Database) =>
  db.read.selectFrom('changes').select(['seq', 'domain', 'slug_key', 'workspace_id', 'at'])

/**
 * The row that was read last is gone, and other rows with it: they were pruned while this process was cut off, or the
 * database is an older copy of itself.
 */
async function startAgain(state: FeedState): Promise<void> {
  log.warn('change_feed_restarted', { after: state.cursor.last().seq })
  const { start } = await findStart(state.db)
  state.cursor = createChangeCursor(start)
  state.invalidateAll()
}

async function fillHoles({ db, cursor, ...state }: FeedState): Promise<void> {
  const holes = cursor.holes()
  if (holes.length === 0) return
  const isHole =
    db.engine === 'postgres'
      ? sql<boolean>`seq = any(${holes})`
      : sql<boolean>`seq in (select value from json_each(${JSON.stringify(holes)}))`
  const rows = await selectChanges(db).where(isHole).execute()
  for (const row of rows) applyChange(state, row)
  cursor.fill(rows, holes, state.clock())
}

function applyChange(
  { invalidateLink, invalidateWorkspace }: Pick<ChangeFeedNeeds, 'invalidateLink' | 'invalidateWorkspace'>,
  { domain, slug_key, workspace_id }: ChangeRow,
): void {
  if (workspace_id !== null) invalidateWorkspace(workspace_id)
  else if (domain !== null && slug_key !== null) invalidateLink(domain, slug_key)
}

/** @param startedAt when the poll began that has just ended */
function trust(state: FeedState, startedAt: number): void {
  if (state.cursor.takeLostHoles()) state.distrustedUntil = state.clock() + HOLE_MS
  if (state.distrustedUntil !== undefined) {
    if (startedAt < state.distrustedUntil) return
    state.distrustedUntil = undefined
    state.invalidateAll()
  }
  state.followedUntil = startedAt
}

function reportFailure(state: FeedState, error: unknown): void {
  if (!state.failing) log.warn('change_feed_interrupted', describeError(error))
  state.failing = true
}

function reportRecovery(state: FeedState): void {
  if (state.failing) log.info('change_feed_goes_on')
  state.failing = false
}

const readFeedMetrics = ({ clock, followedUntil, cursor }: FeedState): Metric[] => [
  gauge(
    'towpath_change_feed_lag_seconds',
    'Age of the last poll for changes of other processes; beyond 2, the caches read links again',
    Math.min(clock() - followedUntil, UNKNOWN_LAG_MS) / 1000,
  ),
  gauge(
    'towpath_change_feed_holes',
    'Numbers of changes that have not come and may still come',
    cursor.holes().length,
  ),
]
