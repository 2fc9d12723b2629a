// Cache of a workspace's allowed senders and classifier counts. A bounded number of workspaces is held; a change on
// this node counts at once, one on another node within a minute.

import { takeTurn } from '../../../lib/concurrency/take-turn.ts'
import { createGenerations } from '../../../lib/generations.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import type { SpamModel } from './classify.ts'
import { createFeatureNumbers, type FeatureNumbers } from './number-features.ts'

export interface WorkspaceSpam {
  /** Addresses, and `*@` with a domain. */
  allowed: ReadonlySet<string>
  model: SpamModel
  toNumber: FeatureNumbers
}

export interface WorkspaceSpamCache {
  /** At once where it is known. */
  get(workspaceId: number): WorkspaceSpam | Promise<WorkspaceSpam>
  /** Call it after the commit that changed something. */
  invalidate(workspaceId: number): void
}

interface RunningRead {
  entry: Promise<Entry>
  /** Something has changed since it began. */
  isStale: boolean
}

interface Entry extends WorkspaceSpam {
  revision: number
  /** When the revision was looked at last, on the monotonic clock. */
  checkedAt: number
  isStale: boolean
  bytes: number
}

/** Other nodes' changes count after this time at the latest. */
const CHECK_EVERY_MS = 30_000
/** A small model is read again after each change, a large one that changes all the time only at this interval. */
const BYTES_READ_AT_ONCE = 120_000
const PAUSE_MS_OF_BYTE = 0.004
/** A read of SQLite holds the event loop, so it reads at most this many rows. */
const ROWS_AT_ONCE = 1000
const BYTES_OF_ROW = 12
const BYTES_OF_SENDER = 200

export function createWorkspaceSpamCache(db: Pick<Database, 'read'>, secret: string): WorkspaceSpamCache {
  const entries = createGenerations<Entry>({
    entriesMax: 1000,
    bytesMax: 8 * 1024 * 1024,
    weigh: (_, { bytes }) => bytes,
  })
  const running = new Map<number, RunningRead>()

  async function read(workspaceId: number, self: Pick<RunningRead, 'isStale'>): Promise<Entry> {
    const started = performance.now()
    // The revision comes first: what changes meanwhile is read again at the next look.
    const totals = await readTotals(db, workspaceId)
    const known = entries.get(String(workspaceId))
    const isSame = known?.revision === totals.revision && !known.isStale
    const content = isSame ? known : await readContent(db, workspaceId, totals)
    const entry = {
      ...content,
      toNumber: known?.toNumber ?? createFeatureNumbers(secret, workspaceId),
      revision: totals.revision,
      checkedAt: started,
      isStale: self.isStale,
    }
    entries.set(String(workspaceId), entry)
    return entry
  }

  return {
    get(workspaceId) {
      const entry = entries.get(String(workspaceId))
      if (entry && !isDue(entry)) return entry
      const current = running.get(workspaceId)
      if (current && !current.isStale) return current.entry
      const state = { isStale: false }
      const self: RunningRead = Object.assign(state, {
        entry: read(workspaceId, state).finally(() => {
          if (running.get(workspaceId) === self) running.delete(workspaceId)
        }),
      })
      running.set(workspaceId, self)
      return self.entry
    },
    invalidate(workspaceId) {
      // A running read may have begun before the change.
      for (const known of [entries.get(String(workspaceId)), running.get(workspaceId)])
        if (known) known.isStale = true
    },
  }
}

function isDue({ isStale, checkedAt, bytes }: Entry): boolean {
  const pauseMs = Math.max(0, bytes - BYTES_READ_AT_ONCE) * PAUSE_MS_OF_BYTE
  return performance.now() - checkedAt >= (isStale ? pauseMs : CHECK_EVERY_MS)
}

async function readTotals({ read }: Pick<Database, 'read'>, workspaceId: number) {
  const row = await read
    .selectFrom('spam_totals')
    .select(['spam', 'good', 'revision'])
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirst()
  return { spam: Number(row?.spam ?? 0), good: Number(row?.good ?? 0), revision: Number(row?.revision ?? 0) }
}

async function readContent(
  { read }: Pick<Database, 'read'>,
  workspaceId: number,
  totals: { spam: number; good: number },
) {
  const senders = await read
    .selectFrom('allowed_senders')
    .select('address')
    .where('workspace_id', '=', workspaceId)
    .execute()
  const allowed = new Set(senders.map(({ address }) => address))
  const counts: number[] = []
  for (let after = -1; ; ) {
    const rows = await read
      .selectFrom('spam_words')
      .select(['word', 'spam', 'good'])
      .where('workspace_id', '=', workspaceId)
      .where('word', '>', after)
      .orderBy('word')
      .limit(ROWS_AT_ONCE)
      .execute()
    for (const { word, spam, good } of rows) counts.push(Number(word), Number(spam), Number(good))
    after = Number(rows.at(-1)?.word)
    if (rows.length < ROWS_AT_ONCE) break
    await takeTurn()
  }
  const model = { ...totals, find: createFinder(Int32Array.from(counts)) }
  return { allowed, model, bytes: 500 + counts.length * (BYTES_OF_ROW / 3) + allowed.size * BYTES_OF_SENDER }
}

/** @param counts number, spam and good of each feature, in the order of the numbers */
const createFinder =
  (counts: Int32Array): SpamModel['find'] =>
  (number) => {
    let low = 0
    let high = counts.length / 3 - 1
    while (low <= high) {
      const middle = (low + high) >> 1
      const at = counts[middle * 3] as number
      if (at === number)
        return { spam: counts[middle * 3 + 1] as number, good: counts[middle * 3 + 2] as number }
      if (at < number) low = middle + 1
      else high = middle - 1
    }
    return undefined
  }
