// Splits a range of time into slices, each with few enough hits to be sorted in little memory.

export interface TimeSlice {
  /** Milliseconds since the epoch; `end` is exclusive. */
  start: number
  end: number
}

export interface CountedSlice extends TimeSlice {
  hits: number
}

/** A year gets buckets of two hours, and the buckets are few enough to be counted in one pass. */
const BUCKETS = 4096

/**
 * @param count counts the hits of each bucket of `width` from `start` on, in order. Empty buckets may be missing.
 * @returns slices in order, which together have every hit. A slice has at most `hitsMax` hits, unless one millisecond has
 * more.
 */
export async function splitIntoSlices(
  { start, end }: TimeSlice,
  hitsMax: number,
  count: (range: TimeSlice, width: number) => Promise<CountedSlice[]>,
): Promise<TimeSlice[]> {
  const width = Math.max(1, Math.ceil((end - start) / BUCKETS))
  const slices: TimeSlice[] = []
  let open: CountedSlice | undefined
  const close = () => {
    if (open) slices.push({ start: open.start, end: open.end })
    open = undefined
  }
  for (const bucket of await count({ start, end }, width)) {
    if (bucket.hits > hitsMax && width > 1) {
      close()
      slices.push(...(await splitIntoSlices(bucket, hitsMax, count)))
    } else if (open && open.hits + bucket.hits <= hitsMax) {
      open = { start: open.start, end: bucket.end, hits: open.hits + bucket.hits }
    } else {
      close()
      open = bucket
    }
  }
  close()
  return slices
}
