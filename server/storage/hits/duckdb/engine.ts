// The embedded hit engine: one DuckDB file, in this process.

import { existsSync, mkdirSync } from 'node:fs'
import { availableParallelism, totalmem } from 'node:os'
import { dirname, resolve } from 'node:path'
import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { createSerialQueue, type SerialQueue } from '../../../lib/concurrency/serial-queue.ts'
import { unavailable } from '../../../lib/failure.ts'
import { describeError, log } from '../../../lib/log.ts'
import type { ClickExporter } from '../click-exporter.ts'
import { createClickReader } from '../click-reader.ts'
import type { Batch, HitEngine } from '../hit-engine.ts'
import { startClosingNames } from './close-names.ts'
import { openReadConnections, type ReadConnections } from './connections.ts'
import { createDamageWatch, type DamageWatch } from './damage-watch.ts'
import { duckDbDialect } from './dialect.ts'
import { deleteBefore, deleteImported, eraseFromFiles } from './erase.ts'
import { openDuckDbExporter } from './export.ts'
import { toBackupPath, toFailuresPath } from './hit-file.ts'
import { inspectDuckDb } from './inspect.ts'
import { HIT_COLUMN_LIST, migrateLayout } from './layout.ts'
import { loadBatch, readMark, skipBatches } from './load.ts'
import { copyDurably, openDuckDbFile } from './open-file.ts'
import { runStatement } from './query.ts'
import { createReadWriteLock, type ReadWriteLock } from './read-write-lock.ts'
import {
  openRollUps,
  prepareOpenedRollUps,
  type RollUpOptions,
  type RollUps,
} from './rollups/open-roll-ups.ts'
import { dropRollUps } from './rollups/tables.ts'
import { type HitSorter, openHitSorter, RUN_HITS } from './sorter.ts'
import { runTransaction } from './transaction.ts'

export interface DuckDbOptions extends RollUpOptions {
  path: string
  memoryLimitMb?: number
  threads?: number
  /** The only directory that batches may be read from. By default the directory of the database. */
  batchDir?: string
  /** The only other directory that the engine may use: for exports. By default there is no other. */
  scratchDir?: string
  /** Hits recorded before this moment are not loaded from a batch, and are deleted when the file is opened. */
  since?: () => number
  /** See `openHitSorter`. */
  runHits?: number
}

/** Two threads halve long questions, and redirects still come first: see docs/adr/0012-engine-share.md. */
const DEFAULT_THREADS = Math.min(2, availableParallelism())

/**
 * A sixteenth of the machine, from 256 to 512 MB. Exact visitors of 5 million clicks grouped by a text take 400 MB;
 * with 256 MB they are counted in shares (query.ts).
 */
const defaultMemoryMb = () => Math.min(512, Math.max(256, Math.floor(totalmem() / 1024 ** 2 / 16)))

export interface DuckDbEngine extends HitEngine {
  backup(path: string): Promise<void>
  /** Resolves when all hits that can be sorted now are sorted. */
  sorted(): Promise<void>
}

interface EngineState {
  readonly path: string
  readonly instance: DuckDBInstance
  /** The connection for loads and deletions. */
  readonly writer: DuckDBConnection
  /** The connection for sorting and roll-ups, which never run at the same time. */
  readonly backgroundConnection: DuckDBConnection
  /** The queue for work on the writer, because a connection has one transaction at a time. */
  readonly writeQueue: SerialQueue
  readonly readers: ReadConnections
  readonly exporter: ClickExporter
  readonly sorter: HitSorter
  readonly rollUps: RollUps
  /**
   * Runs work while no hits are sorted and no other work of this kind runs, because two transactions cannot delete the same hits,
   * and a checkpoint is impossible during another transaction.
   */
  runAlone<T>(work: () => Promise<T>): Promise<T>
  readonly lock: ReadWriteLock
  readonly watchDamage: DamageWatch
}

/** The engine between two erasures, during which the file is closed. */
type OpenFile = Omit<DuckDbEngine, 'erase'>

/** Opens the file, also after damage (see open-file.ts). Only one process may have the file open. */
export async function openDuckDb(options: DuckDbOptions): Promise<DuckDbEngine> {
  const path = resolve(options.path)
  let file = Promise.resolve(await openFile(options))
  /** Runs work after the end of an erasure. An erasure interrupts running work. */
  async function use<T>(work: (open: OpenFile) => Promise<T>): Promise<T> {
    const used = file
    const open = await used
    try {
      return await work(open)
    } catch (error) {
      throw used === file ? error : unavailable(error, 1)
    }
  }
  async function erase(workspaceIds: number[]) {
    const open = await file
    const erased = open.close().then(() => eraseFromFiles(path, workspaceIds))
    file = erased.catch(() => undefined).then(() => openFile(options))
    // The next caller of the engine gets the error.
    file.catch(() => undefined)
    await erased
    await file
  }
  const erasures = createSerialQueue()
  return {
    mark: (node) => use((open) => open.mark(node)),
    load: (batch) => use((open) => open.load(batch)),
    skip: (node, through) => use((open) => open.skip(node, through)),
    ask: (query) => use((open) => open.ask(query)),
    explain: (query) => use((open) => open.explain(query)),
    rollUp: (now) => use((open) => open.rollUp(now)),
    findLastClicks: (query) => use((open) => open.findLastClicks(query)),
    export: (request, signal) => use((open) => open.export(request, signal)),
    deleteBefore: (before) => use((open) => open.deleteBefore(before)),
    inspect: (withClicks) => use((open) => open.inspect(withClicks)),
    backup: (to) => use((open) => open.backup(to)),
    sorted: () => use((open) => open.sorted()),
    deleteImported: (hits) => use((open) => open.deleteImported(hits)),
    findLastClickTimes: (workspaceId, linkIds) =>
      use((open) => open.findLastClickTimes(workspaceId, linkIds)),
    readClicks: (query) => use((open) => open.readClicks(query)),
    listRecentClicks: (query) => use((open) => open.listRecentClicks(query)),
    erase: (workspaceIds) => erasures(() => erase(workspaceIds)),
    close: () => erasures(async () => (await file).close()),
  }
}

async function openFile(options: DuckDbOptions): Promise<OpenFile> {
  const engine = await openEngine(options)
  const { path, writer, readers, exporter, sorter, rollUps, watchDamage } = engine
  const { since = () => 0 } = options
  const read: ReadConnections['use'] = (workspaceId, work) =>
    watchDamage(() => readers.use(workspaceId, work))
  const write = <T>(work: () => Promise<T>) => watchDamage(() => engine.writeQueue(work))
  const writeAlone = (work: () => Promise<void>) => engine.runAlone(() => write(work))
  const removeAlone = <T>(work: () => Promise<T>) =>
    watchDamage(() => rollUps.withRepair(() => engine.runAlone(() => engine.writeQueue(work))))
  const remove = async (deleteHits: () => Promise<number>) => {
    // No question may see marks of roll-ups without their sums.
    if ((await runTransaction(writer, deleteHits, engine.lock.exclusive)) > 0) await writer.run('CHECKPOINT')
  }
  const load = async (batch: Batch) => {
    const { hits, days } = await loadBatch(writer, batch, since(), engine.lock)
    rollUps.noteLoaded(days)
    return hits
  }
  const removeBefore = (before: number) => remove(() => deleteBefore(writer, before))
  const copyTo = async (to: string) => {
    // Nothing changes the file between the checkpoint and the copy.
    await writer.run('CHECKPOINT')
    await copyDurably(path, to)
  }
  const replaceBackup = async () => {
    if (existsSync(toBackupPath(path))) await copyTo(toBackupPath(path))
  }
  if (since() > 0) {
    // The file may be a backup from before the last deletion.
    await removeAlone(() => removeBefore(since())).catch(async (error) => {
      await closeEngine(engine)
      throw error
    })
  }
  const names = startClosingNames({
    run: (work) => removeAlone(() => runTransaction(writer, () => work(writer), engine.lock.exclusive)),
    replaceBackup: () => writeAlone(replaceBackup),
  })
  return {
    ...createClickReader(duckDbDialect, (workspaceId, statement) =>
      read(workspaceId, (connection) => runStatement(connection, statement)),
    ),
    mark: (node) => write(() => readMark(writer, node)),
    load: (batch) =>
      sorter.runLoad(() => watchDamage(() => rollUps.withRepair(() => engine.writeQueue(() => load(batch))))),
    skip: (node, through) => write(() => skipBatches(writer, node, through)),
    ask: async (query) => (await watchDamage(() => rollUps.explain(query))).answers,
    explain: (query) => watchDamage(() => rollUps.explain(query)),
    rollUp: (now) => watchDamage(() => rollUps.rollUp(now)),
    export: (request, signal) => watchDamage(() => exporter.run(request, signal)),
    deleteBefore: (before) =>
      removeAlone(async () => {
        await removeBefore(before)
        await replaceBackup()
      }),
    deleteImported: (hits) =>
      removeAlone(async () => {
        await remove(() => deleteImported(writer, hits))
        await replaceBackup()
      }),
    // Not in the turn of a workspace. The connection is used while no commit runs.
    inspect: (withClicks) => read(0, (connection) => inspectDuckDb(connection, withClicks)),
    backup: (to) => writeAlone(() => copyTo(to)),
    sorted: () => sorter.settled(),
    close: () => names.close().then(() => closeEngine(engine)),
  }
}

async function openEngine(options: DuckDbOptions): Promise<EngineState> {
  const path = resolve(options.path)
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const { memoryLimitMb = defaultMemoryMb(), threads = DEFAULT_THREADS } = options
  const { batchDir = dirname(path), scratchDir = batchDir, runHits = RUN_HITS } = options
  const directories = [batchDir, scratchDir]
  const instance = await openDuckDbFile({ path, memoryLimitMb, threads, directories }, { prepare, salvage })
  const writer = await instance.connect()
  const backgroundConnection = await instance.connect()
  const lock = createReadWriteLock()
  const readers = await openReadConnections(instance, lock)
  const watchDamage = createDamageWatch(path)
  const sorter = openHitSorter({
    transact: (work) =>
      watchDamage(() =>
        runTransaction(backgroundConnection, () => work(backgroundConnection), lock.exclusive),
      ),
    runHits,
  })
  const writeQueue = createSerialQueue()
  const aloneQueue = createSerialQueue()
  const runAlone = <T>(work: () => Promise<T>) => aloneQueue(() => sorter.runPaused(work))
  return {
    path,
    instance,
    writer,
    backgroundConnection,
    writeQueue,
    rollUps: openRollUps(
      {
        connection: backgroundConnection,
        writer,
        writeQueue,
        lock,
        readers,
        runAlone,
        readAllHits,
        watchDamage,
        failuresPath: toFailuresPath(path),
      },
      options,
    ),
    runAlone,
    lock,
    readers,
    exporter: openDuckDbExporter(instance, lock),
    sorter,
    watchDamage,
  }
}

/** Uses a hash, which needs every value: minima and counts would be answered from statistics. */
const readAllHits = (connection: DuckDBConnection) =>
  connection.run(`SELECT bit_xor(hash(${HIT_COLUMN_LIST})) FROM hits`)

/** @param isThorough reads every value */
async function prepare(instance: DuckDBInstance, isThorough: boolean) {
  const connection = await instance.connect()
  try {
    await migrateLayout(connection)
    await connection.run('SELECT count(*) FROM hits_arrived')
    await connection.run('SELECT count(*) FROM hits_sorted')
    await connection.run('SELECT max(batch) FROM marks')
    await prepareOpenedRollUps(connection)
    if (isThorough) await readAllHits(connection)
  } finally {
    connection.closeSync()
  }
}

/** Drops the roll-ups, which can be built again. */
async function salvage(instance: DuckDBInstance) {
  const connection = await instance.connect()
  try {
    await dropRollUps(connection)
  } finally {
    connection.closeSync()
  }
}

async function closeEngine(engine: EngineState): Promise<void> {
  const { writer, backgroundConnection, instance } = engine
  // A roll-up may wait for a question, so questions are interrupted too.
  await Promise.all([
    engine.rollUps.close(),
    engine.readers.close(),
    engine.exporter.close(),
    engine.sorter.close(),
  ])
  await engine.writeQueue(async () => {
    try {
      await writer.run('CHECKPOINT')
    } catch (error) {
      // No data is lost: the log is replayed when the file is opened again.
      log.error('hits.checkpoint_failed', describeError(error))
    }
    backgroundConnection.closeSync()
    writer.closeSync()
    instance.closeSync()
  })
}
