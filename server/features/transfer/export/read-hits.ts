// Reads all hits of a workspace from the hit engine, oldest first. The engine writes a slice of them at a time to a file, which
// is sent and removed before the next one is written: an export needs little disk, whatever the history.

import { open } from 'node:fs/promises'
import { createExportDirectory } from '../../../storage/export-directory.ts'
import { splitIntoSlices, type TimeSlice } from '../../../storage/hits/duckdb/time-slices.ts'
import { HIT_CLASSES, HIT_OUTCOMES } from '../../../storage/hits/hit.ts'
import type { HitReader } from '../../../storage/hits/hit-engine.ts'

export interface HitScan {
  hits: Pick<HitReader, 'ask' | 'export'>
  /** The directory for exports (storage/export-directory.ts). */
  scratchDir: string
  workspaceId: number
  /** Milliseconds; only hits from before are read. */
  until: number
  signal: AbortSignal
}

/** A file of 50 MB. */
const SLICE_HITS = 100_000
const READ_BYTES = 64 * 1024

/** Clicks, page views and refused requests of people and of robots. */
const toSelection = ({ workspaceId }: HitScan, { start, end }: TimeSlice) => ({
  workspaceId,
  start,
  end,
  classes: [...HIT_CLASSES],
  outcomes: [...HIT_OUTCOMES],
  filters: [],
})

export async function* readHits(scan: HitScan): AsyncGenerator<Uint8Array> {
  for (const slice of await planSlices(scan)) {
    scan.signal.throwIfAborted()
    yield* readSlice(scan, slice)
  }
}

const planSlices = (scan: HitScan) =>
  splitIntoSlices({ start: 0, end: scan.until }, SLICE_HITS, async (range, width) => {
    const count = Math.ceil((range.end - range.start) / width)
    const starts = Array.from({ length: count }, (_, index) => range.start + index * width)
    const buckets = await scan.hits.ask({ ...toSelection(scan, range), groupBy: { by: 'time', starts } })
    return buckets.map(({ key, clicks }) => {
      const start = Number(key)
      return { start, end: Math.min(start + width, range.end), hits: clicks }
    })
  })

async function* readSlice(scan: HitScan, slice: TimeSlice): AsyncGenerator<Uint8Array> {
  const directory = await createExportDirectory(scan.scratchDir)
  try {
    const request = { selection: toSelection(scan, slice), format: 'history', dir: directory.path } as const
    const { path } = await scan.hits.export(request, scan.signal)
    const file = await open(path)
    try {
      for (;;) {
        const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(READ_BYTES), 0, READ_BYTES)
        if (bytesRead === 0) return
        yield buffer.subarray(0, bytesRead)
      }
    } finally {
      await file.close()
    }
  } finally {
    await directory.remove()
  }
}
