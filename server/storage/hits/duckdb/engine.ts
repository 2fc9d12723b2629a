// The embedded hit engine: one DuckDB file, in this process. Fed batch by batch, each with its number in the same
// transaction, so that a batch counts once however often it is offered.

import { mkdirSync, writeFileSync } from 'node:fs'
import { availableParallelism, totalmem } from 'node:os'
import { dirname, resolve } from 'node:path'
import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { describeError, log } from '../../../lib/log.ts'
import type { Batch, HitEngine } from '../hit-engine.ts'
import { createSerialQueue, openReadConnections } from './connections.ts'
import { deleteBefore } from './erase.ts'
import { openClickExporter } from './export.ts'
import { HIT_COLUMN_LIST, HIT_COLUMNS, migrateLayout } from './layout.ts'
import { copyDurably, openDuckDbFile, toDamageMarkerPath } from './open-file.ts'
import { createQueryRunner, findLastClicks } from './query.ts'
import { createReadWriteLock, type ReadWriteLock } from './read-write-lock.ts'
import { openHitSorter, RUN_HITS } from './sorter.ts'

const fields = Object.entries(HIT_COLUMNS).map(([field, [, type]]) => `"${field}": '${type.split(' ')[0]}'`)
const quoted = Object.keys(HIT_COLUMNS).map((field) => `"${field}"`)
const INSERT = `INSERT INTO hits_arrived (${HIT_COLUMN_LIST})
  SELECT $1, ${quoted.join(', ')}
  FROM read_json($2, format = 'newline_delimited', maximum_object_size = 1048576, columns = {${fields.join(', ')}})
  WHERE NOT coalesce("at" < $3::BIGINT, false)`

export interface DuckDbOptions {
  path: string
  memoryLimitMb?: number
  threads?: number
  /** The only directory that batches may be read from; by default the one the database is in. */
  batchDir?: string
  /** The only other directory it may use: for exports. By default there is no other. */
  scratchDir?: string
  /** Hits recorded before this moment are not taken from a batch. */
  since?: () => number
  /** See `openHitSorter`. */
  runHits?: number
}

/** Two halve long questions, and redirects come first all the same: see docs/adr/0012-engine-share.md. */
const DEFAULT_THREADS = Math.min(2, availableParallelism())

/** A sixteenth of the machine: exact visitors of 5 million clicks by a text take 400 MB; with 256 they take shares. */
const defaultMemoryMb = () => Math.min(512, Math.max(256, Math.floor(totalmem() / 1024 ** 2 / 16)))

export type DuckDbEngine = HitEngine & {
  /** Resolves when no hits wait that could be sorted now. */
  sorted(): Promise<void>
}

/**
 * A fatal error (a full disk during a checkpoint, say) leaves every later statement failing; only closing and opening
 * again helps. The batch on which it happened may be in: ask for the mark before offering it again.
 */
export const isEngineDead = (error: unknown): boolean =>
  error instanceof Error &&
  (/^FATAL Error|database has been invalidated/i.test(error.message) || isDamage(error))

const isDamage = (error: unknown) => error instanceof Error && /corrupt database file/i.test(error.message)

/** Opens the file, or what is left of it (see open-file.ts). Only one process may have it open. */
export async function openDuckDb(options: DuckDbOptions): Promise<DuckDbEngine> {
  const path = resolve(options.path)
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const {
    memoryLimitMb = defaultMemoryMb(),
    threads = DEFAULT_THREADS,
    batchDir = dirname(path),
    scratchDir = batchDir,
  } = options
  const { since = () => 0, runHits = RUN_HITS } = options
  const directories = [batchDir, scratchDir]
  const instance = await openDuckDbFile({ path, memoryLimitMb, threads, directories }, prepare)
  const writer = await instance.connect()
  const sorter = await instance.connect()
  const inTurn = createSerialQueue()
  const gate = createReadWriteLock()
  const readers = await openReadConnections(instance, gate)
  const ask = createQueryRunner(readers)
  const exports = openClickExporter(instance, gate)
  let damage: unknown
  /** Once damage was seen nothing is answered any more, so that whoever keeps the engine opens it again. */
  const watched = async <T>(work: () => Promise<T>): Promise<T> => {
    if (damage) throw damage
    try {
      return await work()
    } catch (error) {
      if (isDamage(error)) {
        damage = error
        writeFileSync(toDamageMarkerPath(path), String(error))
      }
      throw error
    }
  }
  const write = <T>(work: () => Promise<T>) => watched(() => inTurn(work))
  const sorting = openHitSorter({
    transact: (work) => watched(() => transact(sorter, () => work(sorter), gate.exclusive)),
    runHits,
  })
  /** Two transactions cannot delete the same hits, and no checkpoint is made during another's transaction. */
  const alone = (work: () => Promise<void>) => sorting.runPaused(() => write(work))
  return {
    mark: (node) => write(() => readMark(writer, node)),
    load: (batch) => sorting.runLoad(() => write(() => load(writer, batch, since()))),
    skip: (node, through) =>
      write(() =>
        transact(writer, async () => {
          if ((await readMark(writer, node)) < through) await writeMark(writer, node, through)
        }),
      ),
    ask: (query) => watched(() => ask(query)),
    findLastClicks: (query) => watched(() => readers.use((connection) => findLastClicks(connection, query))),
    export: (request, signal) => watched(() => exports.run(request, signal)),
    deleteBefore: (before) =>
      alone(async () => {
        let deleted = 0
        await transact(writer, async () => {
          deleted = await deleteBefore(writer, before)
        })
        if (deleted > 0) await writer.run('CHECKPOINT')
      }),
    backup: (to) =>
      alone(async () => {
        // Nothing changes the file between these two.
        await writer.run('CHECKPOINT')
        await copyDurably(path, to)
      }),
    sorted: () => sorting.settled(),
    async close() {
      await Promise.all([readers.close(), exports.close(), sorting.close()])
      await inTurn(async () => {
        try {
          await writer.run('CHECKPOINT')
        } catch (error) {
          // Nothing is lost: the log is replayed when the file is opened again.
          log.error('hits.checkpoint_failed', describeError(error))
        }
        sorter.closeSync()
        writer.closeSync()
        instance.closeSync()
      })
    },
  }
}

async function prepare(instance: DuckDBInstance, thorough: boolean) {
  const connection = await instance.connect()
  try {
    await migrateLayout(connection)
    await connection.run('SELECT count(*) FROM hits_arrived')
    await connection.run('SELECT count(*) FROM hits_sorted')
    await connection.run('SELECT max(batch) FROM marks')
    // A hash needs every value; minima and counts are answered from statistics.
    if (thorough) await connection.run(`SELECT bit_xor(hash(${HIT_COLUMN_LIST})) FROM hits`)
  } finally {
    connection.closeSync()
  }
}

/** @returns how many hits it had, 0 for one that is in already */
function load(writer: DuckDBConnection, { node, number, path }: Batch, since: number): Promise<number> {
  return transact(writer, async () => {
    const mark = await readMark(writer, node)
    if (number <= mark) return 0
    if (number !== mark + 1) throw new Error(`Batch ${number} of ${node} does not follow batch ${mark}`)
    const { rowsChanged } = await writer.run(INSERT, [node, resolve(path), BigInt(since)])
    await writeMark(writer, node, number)
    return rowsChanged
  })
}

async function readMark(writer: DuckDBConnection, node: string): Promise<number> {
  const found = await writer.runAndReadAll('SELECT max(batch) FROM marks WHERE node = $1', [node])
  return Number(found.getRows()[0]?.[0] ?? 0)
}

async function writeMark(writer: DuckDBConnection, node: string, number: number) {
  await writer.run('DELETE FROM marks WHERE node = $1', [node])
  await writer.run('INSERT INTO marks VALUES ($1, $2)', [node, BigInt(number)])
}

/** @param committing what the commit is done within */
async function transact<T>(
  connection: DuckDBConnection,
  work: () => Promise<T>,
  committing: ReadWriteLock['exclusive'] = (commit) => commit(),
): Promise<T> {
  await connection.run('BEGIN TRANSACTION')
  let done: T
  try {
    done = await work()
  } catch (error) {
    // A dead engine cannot roll back either, and has nothing to. The first error is the one to tell.
    await connection
      .run('ROLLBACK')
      .catch((second) => log.warn('hits.rollback_failed', describeError(second)))
    throw error
  }
  // A commit that fails has rolled back by itself, or was fatal; then only the mark knows (see isEngineDead).
  await committing(() => connection.run('COMMIT'))
  return done
}
