// Counts typing mistakes between two texts.

/**
 * How many characters must be added, left out, replaced or swapped with their neighbor to turn one text into the other.
 * (Damerau–Levenshtein distance, where no part is edited twice: "optimal string alignment".) The work grows with the length
 * times `max`: a path that leaves the diagonal further has more mistakes.
 * @param a characters of the text, as `Array.from(text)` gives them
 * @returns max + 1 for every distance above max
 */
export function countEdits(a: readonly string[], b: readonly string[], max: number): number {
  if (Math.abs(a.length - b.length) > max) return max + 1
  const start = countEqual(a.length, b.length, (n) => a[n] === b[n])
  const end = countEqual(a.length - start, b.length - start, (n) => a.at(-1 - n) === b.at(-1 - n))
  return countInside(a.slice(start, a.length - end), b.slice(start, b.length - end), max)
}

function countEqual(aLength: number, bLength: number, isEqual: (n: number) => boolean): number {
  let equal = 0
  while (equal < aLength && equal < bLength && isEqual(equal)) equal++
  return equal
}

function countInside(a: readonly string[], b: readonly string[], max: number): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: Math.min(b.length, max) + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row: number[] = []
    const from = Math.max(0, i - max)
    if (from === 0) row[0] = i
    let least = from === 0 ? i : max + 1
    for (let j = Math.max(1, from); j <= Math.min(b.length, i + max); j++) {
      const replaced = at(last, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1)
      let edits = Math.min(replaced, at(last, j) + 1, at(row, j - 1) + 1)
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      if (isSwap) edits = Math.min(edits, at(beforeLast, j - 2) + 1)
      row[j] = edits
      least = Math.min(least, edits)
    }
    // A swap adds one to the distance two rows back.
    if (least > max && !last.some((edits) => edits < max)) return max + 1
    beforeLast = last
    last = row
  }
  return Math.min(at(last, b.length), max + 1)
}

const at = (row: number[], index: number) => row[index] ?? Number.POSITIVE_INFINITY
