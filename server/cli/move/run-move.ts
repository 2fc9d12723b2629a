// Runs `towpath move`: data that cannot change any more is moved while the server runs, and the rest while it is
// stopped. Each step is recorded in the target database, so an interrupted move continues.

import { existsSync, mkdirSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../../config/config.ts'
import { deleteHitCopy, toHitCopyPath, toMoveDirectory } from '../../features/hits/batches/hit-copy.ts'
import { toRetentionStart } from '../../features/hits/retention.ts'
import { parseSegmentName } from '../../features/hits/spool/segment.ts'
import { DAY_MS } from '../../lib/utc-day.ts'
import type { Database } from '../../storage/database/open-database.ts'
import { openClickHouse } from '../../storage/hits/clickhouse/engine.ts'
import { toBackupPath, toDamageMarkerPath, toHitFilePath } from '../../storage/hits/duckdb/hit-file.ts'
import { type HitMoveSource, openHitMoveSource } from '../../storage/hits/duckdb/move-source.ts'
import type { HitDay } from '../../storage/hits/hit-day.ts'
import { type Lock, lockForWorker, tryToLockDataDir } from '../../storage/lock.ts'
import { CommandError } from '../command.ts'
import type { ProgressBar } from '../progress-bar.ts'
import { moveBatches } from './move-batches.ts'
import { type DaySource, moveDays } from './move-days.ts'
import { moveRows, TO_BEGIN_AGAIN, undoRows } from './move-rows.ts'
import { obtainHitCopy } from './obtain-hit-copy.ts'
import { type Move, openMove } from './open-move.ts'
import { hidePassword, type MoveTargets } from './read-targets.ts'

export interface MoveNeeds {
  db: Database
  config: Config
  progress: ProgressBar
  /** Shows a line to the operator. */
  say(line: string): void
  /** Stops the command. Moved data stays, and a later run continues. */
  signal: AbortSignal
  now: () => number
}

/** The hits of a day are complete this long after midnight: until then its salt exists (ensure-salts.ts). */
const SETTLED_AFTER_MS = 2 * 60 * 60 * 1000

/** @returns the report for the operator */
export async function runMove(needs: MoveNeeds, targets: MoveTargets): Promise<string> {
  const { config, progress } = needs
  const move = await openMove({ db: needs.db, dataDir: config.dataDir, now: needs.now }, targets)
  try {
    const ended = await move.log.find<MovedAmounts>('end')
    if (ended) return formatMoveReport(config, targets, ended, 'This move has ended already.')
    if (move.hits) await moveClosedDays(needs, move)
    progress.end()
    const lock = await waitForStop(config.dataDir, needs.signal, () => needs.say(STOP_NOW))
    try {
      const amounts = await moveTheRest(needs, move, targets)
      progress.end()
      return formatMoveReport(config, targets, amounts, 'The move has ended.')
    } finally {
      lock.release()
    }
  } finally {
    progress.end()
    await move.close()
    await deleteHitCopy(config.dataDir)
  }
}

const STOP_NOW =
  'Moved everything that can move while the server runs. Stop the server now: the rest moves once it has stopped.'

/** Moves past days from a copy of the file, which the server writes. */
async function moveClosedDays(needs: MoveNeeds, move: Move): Promise<void> {
  const { dataDir } = move
  const lock = tryToLockDataDir(dataDir)
  lock?.release()
  // Without a server, the second part reads the file itself.
  if (lock) return
  needs.progress.at(0, 'the server copies its hits')
  const copyMadeAt = needs.now()
  if (!(await obtainHitCopy(dataDir, needs.signal))) {
    await deleteHitCopy(dataDir)
    needs.say('The server gives no copy of its hits: all of them move when it has stopped.')
    return
  }
  const history = await openHitMoveSource(toHitCopyPath(dataDir), toMoveDirectory(dataDir))
  try {
    const today = Math.floor((copyMadeAt - SETTLED_AFTER_MS) / DAY_MS)
    const days = (await history.listDays()).filter(({ day }) => day < today)
    await moveDays(toDayNeeds(needs, move), history, days)
  } finally {
    history.close()
  }
}

const toDayNeeds = ({ progress, signal }: MoveNeeds, { node, dataDir, hits, log }: Move) => {
  if (!hits) throw new Error('The hits do not move')
  return { node, scratchDir: toMoveDirectory(dataDir), target: hits, log, progress, signal }
}

async function moveTheRest(needs: MoveNeeds, move: Move, targets: MoveTargets): Promise<MovedAmounts> {
  const { dataDir, rows, log } = move
  await deleteHitCopy(dataDir)
  mkdirSync(toMoveDirectory(dataDir), { recursive: true, mode: 0o700 })
  const rowNeeds = rows && { dataDir, target: rows, log, progress: needs.progress, signal: needs.signal }
  await detectServerRun(move, async () => {
    if (rowNeeds) await undoRows(rowNeeds)
  })
  const movedRows = rowNeeds ? await moveRows(rowNeeds) : undefined
  const hits = move.hits ? await moveHits(needs, move, targets) : undefined
  const amounts = { ...movedRows, hits }
  await log.note('end', amounts)
  return amounts
}

/**
 * A server that has run since the last attempt has changed the rows. Each start creates a new segment of the spool,
 * so a higher number shows this.
 */
async function detectServerRun({ dataDir, log }: Move, undo: () => Promise<void>): Promise<void> {
  const names = await readdir(join(dataDir, 'spool'))
  const segment = Math.max(...names.map((name) => parseSegmentName(name) ?? 0))
  const stopped = await log.find<{ segment: number }>('stopped')
  if (stopped && stopped.segment !== segment) {
    if (await log.find('history'))
      throw new CommandError(
        'The server has run again since its last hits moved, so the rows and hits in the new stores do not match. ' +
          'Create two empty databases, and run the command with them.',
      )
    await undo()
  }
  await log.note('stopped', { segment })
}

/** @returns the number of hits */
async function moveHits(needs: MoveNeeds, move: Move, targets: MoveTargets): Promise<number> {
  const { dataDir, hits, log } = move
  if (!hits || !targets.clickHouseUrls) return 0
  const history = await openLastHistory(dataDir)
  try {
    let inDays = await log.find<number>('history')
    if (inDays === undefined) {
      const days = await listAllDays(history, move)
      inDays = await moveDays(toDayNeeds(needs, move), history ?? NO_HISTORY, days)
      await log.note('history', inDays)
    }
    const inBatches = await moveRemainingBatches(needs, move, targets.clickHouseUrls, history)
    const stored = await hits.countHits()
    if (stored !== inDays + inBatches)
      throw new Error(
        `There are ${inDays + inBatches} hits before the move, and ${stored} after it. ${TO_BEGIN_AGAIN}`,
      )
    return stored
  } finally {
    history?.close()
  }
}

/** The file of the stopped server; undefined if there was never a hit. */
async function openLastHistory(dataDir: string): Promise<HitMoveSource | undefined> {
  const path = toHitFilePath(dataDir)
  const isDamaged =
    existsSync(toDamageMarkerPath(path)) || (!existsSync(path) && existsSync(toBackupPath(path)))
  if (isDamaged) throw new CommandError(`${path} is damaged or missing. ${REPAIR}`)
  if (!existsSync(path)) return undefined
  try {
    return await openHitMoveSource(path, toMoveDirectory(dataDir))
  } catch (cause) {
    throw new Error(`${path} cannot be read. ${REPAIR}`, { cause })
  }
}

const REPAIR =
  'Start the server once as before the move: it repairs its files. Then stop it, and run the command again.'

const NO_HISTORY: DaySource = {
  readFigures: async () => [],
  planSlices: async () => [],
  writeSlice: async () => {},
}

/** The days of both stores. A day whose hits were all deleted here after its move must be deleted there too. */
async function listAllDays(history: HitMoveSource | undefined, { hits }: Move): Promise<HitDay[]> {
  const here = (await history?.listDays()) ?? []
  const known = new Set(here.map(({ day }) => day))
  const there = ((await hits?.listDays()) ?? []).filter((day) => !known.has(day))
  return [...here, ...there.map((day) => ({ day, hits: 0 }))].sort((a, b) => a.day - b.day)
}

async function moveRemainingBatches(
  { config, progress, signal, now }: MoveNeeds,
  { dataDir, instance }: Move,
  urls: string[],
  history: HitMoveSource | undefined,
): Promise<number> {
  progress.at(1, 'the last hits')
  const { hitRetentionDays: days } = config
  const since = toRetentionStart(now(), days)
  const marks = (await history?.listMarks()) ?? []
  const scratchDir = toMoveDirectory(dataDir)
  const engine = await openClickHouse({ urls, scratchDir, since: () => since, instance })
  try {
    return await moveBatches({ dataDir, engine, marks, since, signal })
  } finally {
    await engine.close()
  }
}

interface MovedAmounts {
  /** Undefined if the rows do not move. */
  rows?: number
  tables?: number
  hits?: number
}

/** Formats the operator's report at the end of a move: the amounts, and the settings to start with. */
function formatMoveReport(
  { dataDir, databaseUrl }: Pick<Config, 'dataDir' | 'databaseUrl'>,
  targets: MoveTargets,
  { rows, tables, hits }: MovedAmounts,
  opening: string,
): string {
  const moved = [
    ...(rows === undefined ? [] : [`${rows} rows of ${tables} tables`]),
    ...(hits === undefined ? [] : [`${hits} hits`]),
  ]
  const database = targets.databaseUrl ?? databaseUrl
  const settings = [
    `DATA_DIR=${dataDir}`,
    ...(database === undefined ? [] : [`DATABASE_URL=${hidePassword(database)}`]),
    ...(targets.clickHouseUrls
      ? [`CLICKHOUSE_URL=${targets.clickHouseUrls.map(hidePassword).join(',')}`]
      : []),
  ]
  return [
    `${opening} ${moved.join(' and ')}, the same before and after.`,
    '',
    'Start the server with these settings, and with your passwords in the place of "...":',
    ...settings.map((setting) => `  ${setting}`),
    '',
    ...(targets.clickHouseUrls ? formatNodes(dataDir) : [ONE_SERVER, '']),
    'The files of SQLite and DuckDB have not changed. Do not start the server without the new settings any more: it would',
    'write to the old files.',
  ].join('\n')
}

const ONE_SERVER =
  'Only one server may use this database: its hits stay in DuckDB. Several servers need ClickHouse too (docs/move.md).'

const formatNodes = (dataDir: string) => [
  'This directory is the first node. Every other node needs its own empty DATA_DIR and the same TOWPATH_SECRET;',
  `if you have not set one, it is the text of ${join(dataDir, 'secret')}.`,
  'Files of forms stay in DATA_DIR/uploads. Before a second node starts, bring them into a bucket (UPLOADS_S3_URL):',
  'docs/hosting.md says how.',
]

const POLL_MS = 1000

/**
 * Waits until no server runs on the data directory, and locks it while the last part moves.
 * @param onWait called once, if a server runs. @throws the reason of `signal` when it aborts
 */
async function waitForStop(dataDir: string, signal: AbortSignal, onWait: () => void): Promise<Lock> {
  for (let polls = 0; ; polls++) {
    signal.throwIfAborted()
    const lock = tryToLockDataDir(dataDir)
    if (lock) return lockWorkerToo(dataDir, lock)
    if (polls === 0) onWait()
    await Bun.sleep(POLL_MS)
  }
}

/** Also takes the lock of the hit worker, because that of a killed server ends a moment after the server. */
async function lockWorkerToo(dataDir: string, lock: Lock): Promise<Lock> {
  const workerLock = await lockForWorker(dataDir)
  return {
    release() {
      workerLock.release()
      lock.release()
    },
  }
}
