// Brings stored hits from the kernel to the disk every so often: what a power cut can take, no more.

import { fdatasync } from 'node:fs'
import { describeError, log } from '../../../lib/log.ts'
import type { Segment } from './segment.ts'

export interface SegmentSync {
  /** Hits go to this segment from now on; the one before is synced a last time and closed. */
  switchTo(segment: Segment): void
  /** Something was stored. Called for every hit. */
  markDirty(): void
  /** Syncs what is left and closes the segments. */
  close(): Promise<void>
}

export function openSegmentSync(everyMs: number, onFailure: () => number): SegmentSync {
  const full: Segment[] = []
  let live: Segment | null = null
  let dirty = false
  let running: Promise<void> | null = null

  async function syncOne(segment: Segment) {
    try {
      await syncFile(segment.fd)
    } catch (error) {
      // Ten a second while a disk is broken.
      if (onFailure() % 1000 === 0) log.error('spool_sync_failed', describeError(error))
    }
  }

  async function syncAll() {
    dirty = false
    for (const segment of full.splice(0)) await syncOne(segment).finally(() => segment.close())
    if (live) await syncOne(live)
  }

  // Never two at once: on a slow disk they would only queue up.
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
