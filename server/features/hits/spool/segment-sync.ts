// Syncs the spool's segments to the disk at a fixed interval. A power cut loses at most the hits of one interval.

import { fdatasync } from 'node:fs'
import { describeError, log } from '../../../lib/log.ts'
import type { Segment } from './segment.ts'

export interface SegmentSync {
  /** Makes this segment the live one. The segment before it is synced a last time and closed. */
  switchTo(segment: Segment): void
  /** Notes that the live segment has something to sync. Called for every hit. */
  markDirty(): void
  /** Syncs and closes all segments. */
  close(): Promise<void>
}

/** @param onFailure counts a sync that failed, and returns how many have failed */
export function openSegmentSync(everyMs: number, onFailure: () => number): SegmentSync {
  const full: Segment[] = []
  let live: Segment | null = null
  let dirty = false
  let running: Promise<void> | null = null

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
    // One that becomes full meanwhile belongs to this pass: its hits would wait two intervals for the next.
    for (let segment = full.shift(); segment; segment = full.shift()) {
      await syncSegment(segment)
      await segment.close()
    }
    if (live) await syncSegment(live)
  }

  // One sync at a time: on a slow disk more of them would only queue up.
  const timer = setInterval(() => {
    if (!dirty || running) return
    running = syncAll().finally(() => {
      running = null
    })
  }, everyMs)

  return {
    switchTo(segment) {
      if (live) full.push(live)
      live = segment
    },
    markDirty() {
      dirty = true
    },
    async close() {
      clearInterval(timer)
      await running
      await syncAll()
      await live?.close()
    },
  }
}

const syncFile = (fd: number) =>
  new Promise<void>((resolve, reject) => fdatasync(fd, (error) => (error ? reject(error) : resolve())))
