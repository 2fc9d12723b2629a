// Cuts a range of time so that no piece holds more hits than can be sorted in little memory.

export interface TimeSlice {
  /** Milliseconds since the epoch; `end` is exclusive. */
  start: number
  end: number
}

export interface CountedSlice extends TimeSlice {
  hits: number
}

/** Fine enough that a year comes in pieces of two hours, and few enough to count in one pass. */
const BUCKETS = 4096

/**
 * @param count the hits of each bucket of `width` from `start` on, in order; empty ones may be missing
 * @returns slices in order that together hold every hit, each of at most `hitsMax` unless one millisecond has more
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
