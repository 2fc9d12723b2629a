// Checks the connections of the public socket at an interval: closes those without progress, and checks that the
// process has free descriptors.

import { log } from '../../lib/log.ts'
import type { Connections } from './connections.ts'
import type { DescriptorReserve } from './descriptor-reserve.ts'

export interface Supervision {
  /** Runs until the last connection is closed. */
  stopWhenEmpty(): void
}

/** The shortest interval. */
const EVERY_MS = 1_000

/** Timeouts shrink to this fraction when nearly all relays are in use. */
const CROWDED_SHARE = 1 / 6

/** Refusals are logged at most this often: an attack must not fill the log. */
const LOG_MS = 60_000

export function startSupervision(
  connections: Connections,
  reserve: DescriptorReserve,
  progressMs: number,
): Supervision {
  let stopping = false
  const report = createReport(connections)
  const timer = setInterval(
    () => {
      const nowMs = performance.now()
      endStalled(connections, nowMs, progressMs)
      connections.setExhausted(reserve.isExhausted())
      report(nowMs)
      if (!stopping || connections.counts.open > 0) return
      clearInterval(timer)
      reserve.close()
    },
    Math.min(EVERY_MS, progressMs / 8),
  )
  timer.unref()
  return {
    stopWhenEmpty() {
      stopping = true
    },
  }
}

function endStalled({ counts, relaying, ending, isCrowded }: Connections, nowMs: number, progressMs: number) {
  const patienceMs = isCrowded() ? progressMs * CROWDED_SHARE : progressMs
  for (const client of relaying) {
    if ((client.data.relay?.stalledMs(nowMs) ?? 0) <= patienceMs) continue
    counts.stalled++
    client.terminate()
  }
  for (const [client, untilMs] of ending) if (nowMs > untilMs) client.terminate()
}

function createReport({ counts }: Connections) {
  const told = { refused: 0, stalled: 0, busy: 0 }
  let toldAtMs = Number.NEGATIVE_INFINITY
  return (nowMs: number) => {
    const { refused, stalled, busy, open, relayed } = counts
    const isNews = refused > told.refused || stalled > told.stalled || busy > told.busy
    if (!isNews || nowMs - toldAtMs < LOG_MS) return
    log.warn('connections_refused', {
      refused: refused - told.refused,
      stalled: stalled - told.stalled,
      busy: busy - told.busy,
      open,
      relayed,
    })
    Object.assign(told, { refused, stalled, busy })
    toldAtMs = nowMs
  }
}
