// Counts typing mistakes between two texts.

/**
 * How many characters must be added, left out, replaced or swapped with their neighbour to turn one text into the other.
 * (Damerau–Levenshtein distance, where no part is edited twice: "optimal string alignment".)
 * @param a characters of the text, as `Array.from(text)` gives them
 * @returns max + 1 for every distance above max
 */
export function countEdits(a: readonly string[], b: readonly string[], max: number): number {
  if (Math.abs(a.length - b.length) > max) return max + 1
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    let least = i
    for (let j = 1; j <= b.length; j++) {
      const replaced = at(last, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1)
      let edits = Math.min(replaced, at(last, j) + 1, at(row, j - 1) + 1)
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      if (isSwap) edits = Math.min(edits, at(beforeLast, j - 2) + 1)
      row.push(edits)
      least = Math.min(least, edits)
    }
    // A swap looks two rows back, and costs one more than what it finds there.
    if (least > max && Math.min(...last) >= max) return max + 1
    beforeLast = last
    last = row
  }
  return Math.min(at(last, b.length), max + 1)
}

const at = (row: number[], index: number) => row[index] ?? Number.POSITIVE_INFINITY
