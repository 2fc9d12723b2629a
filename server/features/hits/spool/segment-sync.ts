// Syncs the spool's segments to the disk within an interval after a hit. A power cut loses at most the hits of one interval.

import { fdatasync } from 'node:fs'
import { describeError, log } from '../../../lib/log.ts'
import type { Segment } from './segment.ts'

export interface SegmentSync {
  /** Makes this segment the live one. The previous segment is synced a last time and closed. */
  switchTo(segment: Segment): void
  /** Marks the live segment as changed. Called for every hit. */
  markDirty(): void
  /** Syncs and closes all segments. */
  close(): Promise<void>
}

/** @param onFailure counts a failed sync, and returns the number of failures */
export function openSegmentSync(everyMs: number, onFailure: () => number): SegmentSync {
  const full: Segment[] = []
  let live: Segment | null = null
  let dirty = false
  let running: Promise<void> | null = null
  let timer: Timer | undefined

  async function syncSegment(segment: Segment) {
    try {
      await syncFile(segment.fd)
    } catch (error) {
      dirty = true
      // A broken disk fails ten syncs a second: log one in 1,000.
      if (onFailure() % 1000 === 0) log.error('spool_sync_failed', describeError(error))
    }
  }

  async function syncAll() {
    dirty = false
    // Includes a segment that becomes full meanwhile, whose hits would otherwise wait two intervals.
    for (let segment = full.shift(); segment; segment = full.shift()) {
      await syncSegment(segment)
      await segment.close()
    }
    if (live) await syncSegment(live)
  }

  function schedule() {
    timer = setTimeout(() => {
      running = syncAll().finally(() => {
        running = null
        timer = undefined
        if (dirty) schedule()
      })
    }, everyMs)
  }

  return {
    switchTo(segment) {
      if (live) full.push(live)
      live = segment
    },
    markDirty() {
      dirty = true
      // One sync at a time: on a slow disk, more syncs would only queue up.
      if (timer === undefined) schedule()
    },
    async close() {
      clearTimeout(timer)
      await running
      clearTimeout(timer)
      await syncAll()
      await live?.close()
    },
  }
}

const syncFile = (fd: number) =>
  new Promise<void>((resolve, reject) => fdatasync(fd, (error) => (error ? reject(error) : resolve())))
