// The simulated database: a real SQLite in memory, one transaction at a time. Several nodes speak PostgreSQL to it, which is
// translated: locks of rows say nothing where no two transactions overlap.

import { Database as Sqlite } from 'bun:sqlite'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type CompiledQuery,
  type DatabaseConnection,
  Kysely,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import { unavailable } from '../../../server/lib/failure.ts'
import type { CommitEffect, Database, DatabaseEngine } from '../../../server/storage/database/database.ts'
import { toSqlitePath } from '../../../server/storage/database/open-reader.ts'
import type { Tables } from '../../../server/storage/database/tables.ts'
import { writeMigratedFile } from '../../support/migrated-database.ts'
import type { SimulatedProcess } from '../machine/process.ts'
import type { World } from '../machine/world.ts'

export interface Rows {
  /** All statements fail until this moment. */
  awayUntil: number
  /** How often a commit is not answered. */
  lostAnswers: number
  /** For the checks: sees what is not committed, too. */
  ask<Row>(text: string, ...values: (string | number)[]): Row[]
  /** Whether a transaction is open. */
  isBusy(): boolean
  /** The database as a node sees it. */
  connect(process: SimulatedProcess): Database
  /** A node is gone: what it has not committed is undone. */
  disconnect(process: SimulatedProcess): void
}

const TABLES = ['deliveries', 'delivery_attempts', 'channels', 'submissions', 'sqlite_sequence']

/** Opens a database with all tables, for many histories one after another. */
export async function openSqliteInMemory(): Promise<Sqlite> {
  const dir = mkdtempSync(join(tmpdir(), 'towpath-simulator-'))
  try {
    await writeMigratedFile(dir)
    const bytes = readFileSync(toSqlitePath(dir))
    // No log beside the file (https://www.sqlite.org/fileformat.html): a database in memory has none.
    bytes.fill(1, 18, 20)
    return Sqlite.deserialize(bytes)
  } finally {
    rmSync(dir, { recursive: true })
  }
}

export function createRows(world: World, sqlite: Sqlite, engine: DatabaseEngine): Rows {
  if (sqlite.inTransaction) sqlite.run('rollback')
  for (const table of TABLES) sqlite.run(`delete from ${table}`)
  let holder: SimulatedProcess | undefined
  let queue: { process: SimulatedProcess; begin(): void }[] = []

  function next() {
    holder = undefined
    const first = queue.shift()
    if (!first) return
    holder = first.process
    first.begin()
  }

  /** Waits for the transactions before this one. */
  function enter(process: SimulatedProcess): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    if (!process.alive) return promise // it never goes on
    queue.push({ process, begin: resolve })
    if (!holder) next()
    return promise
  }

  function leave(process: SimulatedProcess) {
    if (process.alive) next()
  }

  const execute = ({ sql, parameters }: CompiledQuery) => {
    if (world.now() < rows.awayUntil) throw unavailable('The database is away')
    const statement = sqlite.query(translate(sql))
    const values = parameters.map((value) =>
      Array.isArray(value) ? JSON.stringify(value) : value,
    ) as never[]
    if (statement.columnNames.length > 0) return { rows: statement.all(...values) as never[] }
    const { changes, lastInsertRowid } = statement.run(...values)
    return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) }
  }

  const rows: Rows = {
    awayUntil: 0,
    lostAnswers: 0,
    ask: (text, ...values) => sqlite.query(text).all(...values) as never[],
    isBusy: () => sqlite.inTransaction,
    connect(process) {
      const call = (query: CompiledQuery) => process.call('statement', world.random(), () => execute(query))
      const inside = createKysely(call)
      const read = createKysely(async (query) => {
        await enter(process)
        return call(query).finally(() => leave(process))
      })
      return {
        engine,
        read,
        async write(body) {
          await enter(process)
          const effects: CommitEffect[] = []
          let value: Awaited<ReturnType<typeof body>>
          try {
            sqlite.run('begin')
            value = await body(inside, (effect) => effects.push(effect))
            const isLost = world.chance(rows.lostAnswers)
            await process.call('commit', world.random() * 3, () => {
              if (world.now() < rows.awayUntil) throw unavailable('The database is away')
              sqlite.run('commit')
            })
            if (isLost) throw unavailable('The connection broke after the commit')
          } catch (error) {
            if (sqlite.inTransaction) sqlite.run('rollback')
            leave(process)
            throw error
          }
          leave(process)
          for (const effect of effects) if (typeof effect === 'function') effect()
          return value
        },
      }
    },
    disconnect(process) {
      queue = queue.filter((waiting) => waiting.process !== process)
      if (holder !== process) return
      if (sqlite.inTransaction) sqlite.run('rollback')
      next()
    },
  }
  return rows
}

const translated = new Map<string, string>()

function translate(text: string): string {
  const known = translated.get(text)
  if (known !== undefined) return known
  const sqlite = text
    .replace(/for (no key )?update( of \w+)?( skip locked)?|for key share/g, '')
    .replace(/ctid = any\(array\((.*)\)\)$/s, 'rowid in ($1)')
    .replaceAll('select ctid', 'select rowid')
    .replaceAll('::bigint', '')
    .replaceAll('= any(?)', 'in (select value from json_each(?))')
    .replaceAll('greatest(', 'max(')
    .replaceAll('least(', 'min(')
  translated.set(text, sqlite)
  return sqlite
}

const adapter = new SqliteAdapter()
const compiler = new SqliteQueryCompiler()

function createKysely(executeQuery: DatabaseConnection['executeQuery']): Kysely<Tables> {
  const connection: DatabaseConnection = {
    executeQuery,
    // biome-ignore lint/correctness/useYield: the interface wants a generator
    async *streamQuery() {
      throw new Error('Nobody streams')
    },
  }
  const nothing = async () => {}
  const driver = {
    init: nothing,
    acquireConnection: async () => connection,
    beginTransaction: nothing,
    commitTransaction: nothing,
    rollbackTransaction: nothing,
    releaseConnection: nothing,
    destroy: nothing,
  }
  return new Kysely<Tables>({
    dialect: {
      createDriver: () => driver,
      createAdapter: () => adapter,
      createQueryCompiler: () => compiler,
      createIntrospector: (db) => new SqliteIntrospector(db),
    },
  })
}
