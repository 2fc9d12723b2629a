// Starts the thread that watches the event loop, and counts what it sees (docs/adr/0061-watchdog.md).

import { describeError, getLogFormat, getLogLevel, log } from '../../lib/log.ts'
import { beat, closeBoard, openBoard } from '../../lib/telemetry/request-board.ts'
import type { Metric } from '../health-and-metrics.ts'
import { createLoopProfiler } from './loop-profiler.ts'
import type { WatchdogStart } from './watchdog-thread.ts'

export interface Watchdog {
  /** From now on the loop is watched: call it when the server listens. */
  start(): void
  /** The event loop turns, this long after the last time. */
  noteTurn(sinceMs: number): void
  metrics(): Metric[]
  close(): void
}

export function createWatchdog(): Watchdog {
  const profiler = createLoopProfiler()
  let thread: Worker | undefined
  let [stalls, longestMs] = [0, 0]
  const report = async (ms: number) => {
    const stack = await profiler.takeStack(ms).catch((error) => describeError(error).stack)
    log.warn('event_loop_resumed', { ms: Math.round(ms), stack })
  }
  return {
    start() {
      const started = new Worker(new URL('./watchdog-thread.ts', import.meta.url).href, { smol: true })
      // It ends with the process.
      started.unref()
      started.onerror = (event) => log.error('watchdog_failed', { error: event.message })
      const logFormat = getLogLevel() === 'silent' ? undefined : getLogFormat()
      started.postMessage({ memory: openBoard(), logFormat } satisfies WatchdogStart)
      thread = started
    },
    noteTurn(sinceMs) {
      const seen = beat()
      if (seen === stalls) return
      stalls = seen
      longestMs = Math.max(longestMs, sinceMs)
      void report(sinceMs)
    },
    metrics: () => [
      {
        name: 'towpath_event_loop_stalls_total',
        kind: 'counter',
        help: 'How often the event loop has not turned for two seconds; event_loop_stalled in the log names the request',
        value: stalls,
      },
      {
        name: 'towpath_event_loop_longest_stall_seconds',
        kind: 'gauge',
        help: 'The longest of these stalls since the start',
        value: longestMs / 1000,
      },
    ],
    close() {
      profiler.close()
      thread?.terminate()
      closeBoard()
    },
  }
}
