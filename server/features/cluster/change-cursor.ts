// This process's position in the changes of others. Numbers are given before commits, so a number may still come after
// a higher one. Such a hole is read again until it comes or can come no more.

export interface ChangeRow {
  seq: number
  domain: string | null
  slug_key: string | null
  workspace_id: number | null
  at: number
}

/** The last row of the feed that this process has read. */
export type ReadPosition = Pick<ChangeRow, 'seq' | 'at'>

export interface ChangeCursor {
  last(): ReadPosition
  holes(): number[]
  /** @param rows those after the last one, in order @param now monotonic milliseconds */
  advance(rows: ChangeRow[], now: number): void
  /** @param rows those that filled holes. Requested holes that are too old are closed. */
  fill(rows: ChangeRow[], asked: number[], now: number): void
  /** True once after there were more holes than can be asked for: some changes will not be seen. */
  takeLostHoles(): boolean
}

/**
 * The longest time that a number can arrive after a higher one. A row is inserted in one message with its COMMIT, and
 * the server ends each statement after 10 seconds (storage/database/postgres.ts).
 */
export const HOLE_MS = 2 * 60_000
const HOLES_MAX = 10_000

export function createChangeCursor(start: ReadPosition, holesMax = HOLES_MAX): ChangeCursor {
  let last = start
  let lost = false
  /** When each hole was noticed. */
  const holes = new Map<number, number>()

  return {
    last: () => last,
    holes: () => [...holes.keys()],
    takeLostHoles() {
      const had = lost
      lost = false
      return had
    },
    advance(rows, now) {
      for (const { seq, at } of rows) {
        if (seq - last.seq - 1 > holesMax - holes.size) lost = true
        else for (let hole = last.seq + 1; hole < seq; hole++) holes.set(hole, now)
        last = { seq, at }
      }
    },
    fill(rows, asked, now) {
      for (const { seq } of rows) holes.delete(seq)
      for (const seq of asked) if (now - (holes.get(seq) ?? now) >= HOLE_MS) holes.delete(seq)
    },
  }
}
