// A thread of the server (`new Worker`) that checks twice a second whether the event loop turns. If it has not turned for
// two seconds, the thread logs at once which request holds it: the loop itself could not say so before it is free again.

import { writeSync } from 'node:fs'
import { type LogFormat, toJsonLine, toPrettyLine } from '../../lib/telemetry/log-format.ts'
import {
  type BoardReader,
  type BoardRequest,
  readBoard,
  readClock,
} from '../../lib/telemetry/request-board.ts'
import { pathOf } from '../request-path.ts'

export interface WatchdogStart {
  memory: SharedArrayBuffer
  /** Absent if errors are not logged. */
  logFormat?: LogFormat
}

export const STALL_MS = 2_000
const LOOK_MS = 500
/** Maximum that a check adds: if the thread was late too, the machine or a signal had stopped the process. */
const ADDED_MAX_MS = LOOK_MS * 1.5
const OTHERS_MAX = 5
const PATH_MAX = 100
const STANDARD_ERROR = 2

declare const self: Worker

self.onmessage = ({ data }: MessageEvent<WatchdogStart>) => watch(data)

function watch({ memory, logFormat }: WatchdogStart): void {
  const board = readBoard(memory)
  let [beats, stuckMs, lookedAt] = [board.readBeats(), 0, readClock()]
  setInterval(() => {
    const now = readClock()
    const added = Math.min(now - lookedAt, ADDED_MAX_MS)
    lookedAt = now
    const turned = board.readBeats()
    if (turned !== beats) {
      beats = turned
      stuckMs = 0
      return
    }
    const wasStuck = stuckMs >= STALL_MS
    stuckMs += added
    if (wasStuck || stuckMs < STALL_MS) return
    board.addStall()
    if (logFormat) writeLine(logFormat, board, stuckMs)
  }, LOOK_MS)
}

function writeLine(format: LogFormat, board: BoardReader, stuckMs: number): void {
  const { running, others } = board.readRequests()
  const line = {
    at: new Date().toISOString(),
    level: 'error',
    event: 'event_loop_stalled',
    fields: {
      requestId: running?.id,
      method: running?.method,
      path: running && maskPath(running.path),
      bytes: running?.bytes,
      requestMs: running && toAge(running),
      ms: Math.round(stuckMs),
      others: chooseOthers(others).map(describe).join('; ') || undefined,
    },
  }
  try {
    // Not through the stream, which waits for the event loop.
    writeSync(STANDARD_ERROR, format === 'pretty' ? toPrettyLine(line, false) : toJsonLine(line))
  } catch {
    // Nobody reads the log, or the pipe is full. The stall is still counted.
  }
}

/** Alternates between the newest request and the one with the largest body. */
function chooseOthers(newestFirst: BoardRequest[]): BoardRequest[] {
  const largestFirst = newestFirst.toSorted((a, b) => b.bytes - a.bytes)
  const byTurns = newestFirst.flatMap((request, i) => [request, largestFirst[i] as BoardRequest])
  return [...new Set(byTurns)].slice(0, OTHERS_MAX)
}

const describe = (request: BoardRequest) =>
  `${request.method} ${maskPath(request.path)} ${request.bytes} bytes ${toAge(request)} ms ${request.id}`

const toAge = ({ startedAt }: BoardRequest) =>
  startedAt === 0 ? undefined : Math.round(readClock() - startedAt)

/**
 * The path as far as it has no secret. The API has none in its paths, and logs them (`request`). Elsewhere a link in a mail
 * has one after its second segment: `/f/confirm/{token}`, `/f/stop/{token}`, `/f/files/{token}`.
 */
export function maskPath(url: string): string {
  const path = pathOf(url)
  const shown = /^\/(?:v1|api)\//.test(path) ? path : path.replace(/^(\/+[^/]+\/+[^/]+\/).*$/, '$1…')
  return shown.length > PATH_MAX ? `${shown.slice(0, PATH_MAX)}…` : shown
}
