// A position in a spool: the number of a segment and a byte offset in the segment.

export interface SpoolPosition {
  seq: number
  offset: number
}

export const isBefore = (a: SpoolPosition, b: SpoolPosition) =>
  a.seq < b.seq || (a.seq === b.seq && a.offset < b.offset)
