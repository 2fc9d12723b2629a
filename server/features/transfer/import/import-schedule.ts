// Shares the readers of this node among the workspaces, one running import each. If all readers are in use and another
// workspace waits, the import with the oldest reader pauses after its slice, and continues later at its position.

import type { ExpressionBuilder } from 'kysely'
import type { Tables } from '../../../storage/database/tables.ts'
import { lockWorkspace } from '../../accounts/workspaces/lock-workspace.ts'
import type { ImportRow } from './import-row.ts'
import { ImportInterrupted } from './import-run.ts'
import { type RunnerNeeds, runImport } from './import-runner.ts'

/** Each takes up to 150 MB. */
const READERS = 2
/** The first slice of an import. Each later one is twice as long, so that an import that begins again can end. */
export const SLICE_MS = 15_000
const DOUBLINGS_MAX = 6
/** Polls, because an import can be canceled, and its workspace deleted, on another node. */
const POLL_MS = 1_000

interface Turn {
  row: ImportRow
  since: number
  controller: AbortController
  ended: Promise<void>
}

/** When a workspace last had a reader, and the number of consecutive pauses of its import. */
interface History {
  endedAt: number
  gaveWay: number
}

export interface ImportSchedule {
  needs: RunnerNeeds
  /** Aborted when the server stops: running imports continue after the next start. */
  signal: AbortSignal
  /** By workspace. */
  turns: Map<number, Turn>
  histories: Map<number, History>
  isWoken: boolean
  onWake: () => void
}

export function createImportSchedule(needs: RunnerNeeds, signal: AbortSignal): ImportSchedule {
  const schedule: ImportSchedule = {
    needs,
    signal,
    turns: new Map(),
    histories: new Map(),
    isWoken: false,
    onWake() {},
  }
  signal.addEventListener('abort', () => wakeSchedule(schedule), { once: true })
  return schedule
}

/** Polls now instead of waiting for the next poll. */
export function wakeSchedule(schedule: ImportSchedule): void {
  schedule.isWoken = true
  schedule.onWake()
}

/** Runs the imports of this node until none is waiting. @throws Failure `unavailable` */
export async function runImports(schedule: ImportSchedule): Promise<void> {
  const { signal, turns } = schedule
  const failed = Promise.withResolvers<never>()
  // An unhandled rejection would end the process.
  failed.promise.catch(() => {})
  try {
    while (!signal.aborted) {
      schedule.isWoken = false
      await endStaleTurns(schedule)
      const waiting = await listWaiting(schedule)
      for (const workspaceId of waiting.slice(0, READERS - turns.size))
        await beginTurn(schedule, workspaceId, failed.reject)
      if (turns.size === 0) return
      giveWay(schedule, waiting.filter((workspaceId) => !turns.has(workspaceId)).length)
      await Promise.race([failed.promise, waitForWake(schedule)])
    }
  } finally {
    // Running imports continue at their positions, at the next start or when the database is available again.
    for (const { controller } of turns.values()) controller.abort(new Error('The imports stop'))
    await Promise.all([...turns.values()].map(({ ended }) => ended))
  }
}

function waitForWake(schedule: ImportSchedule): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, POLL_MS)
  schedule.onWake = resolve
  if (schedule.isWoken) resolve()
  return promise.finally(() => clearTimeout(timer))
}

/** Ends the imports that were canceled on any node, and those whose workspace was deleted. */
async function endStaleTurns({ needs, turns }: ImportSchedule): Promise<void> {
  if (turns.size === 0) return
  const ids = [...turns.values()].map(({ row }) => row.id)
  const found = await needs.db.read
    .selectFrom('imports')
    .select(['id', 'stage'])
    .where('workspace_id', 'in', [...turns.keys()])
    .where('id', 'in', ids)
    .where('status', '=', 'running')
    .execute()
  const stages = new Map(found.map(({ id, stage }) => [id, stage]))
  for (const { row, controller } of turns.values()) {
    const isUndo = stages.get(row.id) === 'undo'
    if (stages.has(row.id) && isUndo === (row.stage === 'undo')) continue
    controller.abort(new ImportInterrupted('The import is canceled, or its workspace is gone'))
  }
}

/** The workspaces without a turn, the longest waiting ones first. */
async function listWaiting({ needs: { db, node }, turns, histories }: ImportSchedule): Promise<number[]> {
  const open = await db.read
    .selectFrom('imports')
    .select((e) => ['workspace_id', e.fn.min('created_at').as('since')])
    .where('node', '=', node)
    .where((e) => e.or([e('status', '=', 'running'), e.and([e('status', '=', 'queued'), isAlone(e)])]))
    .groupBy('workspace_id')
    .execute()
  const since = new Map(
    open.map((row) => [
      row.workspace_id,
      Math.max(Number(row.since), histories.get(row.workspace_id)?.endedAt ?? 0),
    ]),
  )
  // The wait of a later import of the workspace begins with that import.
  for (const workspaceId of histories.keys()) if (!since.has(workspaceId)) histories.delete(workspaceId)
  return [...since]
    .filter(([workspaceId]) => !turns.has(workspaceId))
    .sort(([, a], [, b]) => a - b)
    .map(([workspaceId]) => workspaceId)
}

async function beginTurn(
  schedule: ImportSchedule,
  workspaceId: number,
  fail: (error: unknown) => void,
): Promise<void> {
  const { needs, signal, turns, histories } = schedule
  const row = await takeNext(needs, workspaceId)
  if (!row) return
  const controller = new AbortController()
  const end = () => {
    const gaveWay = controller.signal.reason instanceof GaveWay
    turns.delete(workspaceId)
    histories.set(workspaceId, {
      endedAt: needs.now(),
      gaveWay: gaveWay ? (histories.get(workspaceId)?.gaveWay ?? 0) + 1 : 0,
    })
    wakeSchedule(schedule)
  }
  const ended = runImport(needs, row, AbortSignal.any([signal, controller.signal]))
    .catch(fail)
    .finally(end)
  turns.set(workspaceId, { row, since: performance.now(), controller, ended })
}

class GaveWay extends Error {}

/** @param count of the waiting workspaces */
function giveWay({ needs, turns, histories }: ImportSchedule, count: number): void {
  const isOver = ([workspaceId, { since }]: [number, Turn]) => {
    const doublings = Math.min(histories.get(workspaceId)?.gaveWay ?? 0, DOUBLINGS_MAX)
    return performance.now() - since >= (needs.sliceMs ?? SLICE_MS) * 2 ** doublings
  }
  const over = [...turns].filter(isOver).sort(([, a], [, b]) => a.since - b.since)
  for (const [, { controller }] of over.slice(0, count))
    controller.abort(new GaveWay('Other workspaces wait for a reader'))
}

/**
 * Undos and interrupted imports come first. No import begins while another node runs one of the same workspace, because both
 * could import the same days of a history.
 */
async function takeNext({ db, node, now }: RunnerNeeds, workspaceId: number): Promise<ImportRow | undefined> {
  const next = await db.read
    .selectFrom('imports')
    .selectAll()
    .where('node', '=', node)
    .where('workspace_id', '=', workspaceId)
    .where((e) => e.or([e('status', '=', 'running'), e.and([e('status', '=', 'queued'), isAlone(e)])]))
    .orderBy('status', 'desc')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst()
  if (next?.status !== 'queued') return next
  return db.write(async (connection) => {
    if (db.engine === 'postgres') await lockWorkspace(connection, workspaceId)
    // Between the two statements, the import may be canceled, or another node may begin one.
    return connection
      .updateTable('imports')
      .set({ status: 'running', stage: 'check', started_at: now() })
      .where('workspace_id', '=', workspaceId)
      .where('id', '=', next.id)
      .where('status', '=', 'queued')
      .where(isAlone)
      .returningAll()
      .executeTakeFirst()
  })
}

/** The condition that no other node runs an import of the same workspace. */
const isAlone = ({ not, exists, selectFrom }: ExpressionBuilder<Tables, 'imports'>) =>
  not(
    exists(
      selectFrom('imports as other')
        .select('other.id')
        .whereRef('other.workspace_id', '=', 'imports.workspace_id')
        .whereRef('other.node', '<>', 'imports.node')
        .where('other.status', '=', 'running'),
    ),
  )
