// Stores the browser files of all releases on one PostgreSQL database. A server finds the files of another release here, by
// a name with the hash of the content.

import { DAY_MS } from '../lib/utc-day.ts'
import type { Connection, Database } from './database/open-database.ts'

/** `dashboard`: files below /app/assets. `snippet`: scripts on other sites. */
export type BuiltFileKind = 'dashboard' | 'snippet'

export interface BuiltFile {
  name: string
  content: Uint8Array<ArrayBuffer>
  gzip: Uint8Array<ArrayBuffer>
}

export interface BuiltFileStore {
  /**
   * Stores the files that are not stored yet. Safe to run on several servers at once.
   * @throws when the database is unavailable; `prune` then tries again
   */
  keep(kind: BuiltFileKind, files: KeptFile[]): Promise<void>
  /** Finds a file that any server has stored before this call. An unknown name takes up to a second. */
  find(kind: BuiltFileKind, name: string): Promise<BuiltFile | undefined>
  /** Run it regularly. Marks the files of this server as used, and deletes those that no server has used for 30 days. */
  prune(): Promise<void>
}

/** Longer than browsers and caches keep a page that names a file. */
const DAYS_KEPT = 30
/** About three releases of the dashboard, each file compressed and plain. */
const CACHE_BYTES = 8 * 1024 * 1024
/** Strangers can request any name, so the names are read at most once in this time. */
const LOOK_EVERY_MS = 1_000

interface State {
  db: Database
  now: () => number
  /** The names of all files as `kind/name`, at the last read. */
  known: Set<string>
  lookedAtMs: number
  /** The next read of the names, if it is planned and has not begun. */
  nextLook: Promise<void> | undefined
  /** The files of other releases, least recently used first. */
  cache: Map<string, BuiltFile>
  cacheBytes: number
  /** The names of the files that this server has stored. */
  own: Map<BuiltFileKind, string[]>
  /** Files that could not be stored. */
  unkept: Map<BuiltFileKind, KeptFile[]>
}

type KeptFile = Pick<BuiltFile, 'name' | 'gzip'>

export function createBuiltFileStore({ db, now }: Pick<State, 'db' | 'now'>): BuiltFileStore {
  const state: State = {
    db,
    now,
    known: new Set(),
    lookedAtMs: Number.NEGATIVE_INFINITY,
    nextLook: undefined,
    cache: new Map(),
    cacheBytes: 0,
    own: new Map(),
    unkept: new Map(),
  }
  return {
    keep: (kind, files) => keep(state, kind, files),
    find: (kind, name) => find(state, kind, name),
    prune: () => prune(state),
  }
}

async function keep({ db, now, own, unkept }: State, kind: BuiltFileKind, files: KeptFile[]) {
  unkept.set(kind, files)
  // The order is the same on all servers: otherwise two servers could each wait for a row of the other.
  const sorted = files.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const names = sorted.map(({ name }) => name)
  await db.write(async (connection) => {
    const stored = await connection
      .selectFrom('built_files')
      .select('name')
      .where('kind', '=', kind)
      .where('name', 'in', names)
      .execute()
    const missing = sorted.filter(({ name }) => !stored.some((row) => row.name === name))
    const rows = missing.map(({ name, gzip }) => ({ kind, name, gzip: Buffer.from(gzip), seen_at: now() }))
    if (rows.length > 0)
      await connection
        .insertInto('built_files')
        .values(rows)
        .onConflict((conflict) => conflict.doNothing())
        .execute()
    await touch(connection, kind, names, now())
  })
  own.set(kind, names)
  unkept.delete(kind)
}

/** Marks the files as used. Skips rows that another server is marking at the same time. */
async function touch(connection: Connection, kind: BuiltFileKind, names: string[], now: number) {
  await connection
    .updateTable('built_files')
    .set({ seen_at: now })
    .where('kind', '=', kind)
    .where('name', 'in', (e) =>
      e
        .selectFrom('built_files')
        .select('name')
        .where('kind', '=', kind)
        .where('name', 'in', names)
        .where('seen_at', '<', now - DAY_MS / 2)
        .forUpdate()
        .skipLocked(),
    )
    .execute()
}

async function find(state: State, kind: BuiltFileKind, name: string): Promise<BuiltFile | undefined> {
  const key = `${kind}/${name}`
  const cached = state.cache.get(key)
  if (cached) {
    state.cache.delete(key)
    state.cache.set(key, cached)
    return cached
  }
  if (!state.known.has(key)) await lookFromNow(state)
  if (!state.known.has(key)) return undefined
  const row = await state.db.read
    .selectFrom('built_files')
    .select('gzip')
    .where('kind', '=', kind)
    .where('name', '=', name)
    .executeTakeFirst()
  if (!row) return undefined
  const gzip = new Uint8Array(row.gzip)
  const file = { name, gzip, content: Bun.gunzipSync(gzip) }
  addToCache(state, key, file)
  return file
}

/** Plans a new read: a running one may miss a file that was stored after its start. */
function lookFromNow(state: State): Promise<void> {
  state.nextLook ??= Bun.sleep(Math.max(0, state.lookedAtMs + LOOK_EVERY_MS - performance.now())).then(() =>
    look(state),
  )
  return state.nextLook
}

async function look(state: State): Promise<void> {
  state.nextLook = undefined
  state.lookedAtMs = performance.now()
  const rows = await state.db.read.selectFrom('built_files').select(['kind', 'name']).execute()
  state.known = new Set(rows.map(({ kind, name }) => `${kind}/${name}`))
}

function addToCache(state: State, key: string, file: BuiltFile): void {
  const { cache } = state
  // Two requests may have read the same file at once.
  if (cache.has(key)) return
  cache.set(key, file)
  state.cacheBytes += weigh(file)
  for (const [oldest, old] of cache) {
    if (state.cacheBytes <= CACHE_BYTES) return
    cache.delete(oldest)
    state.cacheBytes -= weigh(old)
  }
}

const weigh = ({ content, gzip }: BuiltFile) => content.byteLength + gzip.byteLength

async function prune(state: State): Promise<void> {
  const { db, now, own, unkept } = state
  for (const [kind, files] of unkept) await keep(state, kind, files)
  await db.write(async (connection) => {
    for (const [kind, names] of own) await touch(connection, kind, names, now())
    await connection
      .deleteFrom('built_files')
      .where('seen_at', '<', now() - DAYS_KEPT * DAY_MS)
      .execute()
  })
}
