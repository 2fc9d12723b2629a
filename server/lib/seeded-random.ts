// Random numbers that are the same for the same seed, for the demo and the benchmarks.

/** @returns a number from 0 to 1, without 1 */
export type Random = () => number

/** sfc32 (https://pracrand.sourceforge.net): 128 bits of state, passes PractRand, a few nanoseconds a number. */
export function createRandom(seed: number): Random {
  let [a, b, c, d] = [0x9e3779b9, 0x243f6a88, 0xb7e15162, seed | 0]
  const next = () => {
    const t = (((a + b) | 0) + d) | 0
    d = (d + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = ((c << 21) | (c >>> 11)) + t || 0
    c |= 0
    return (t >>> 0) / 4_294_967_296
  }
  for (let n = 0; n < 20; n++) next()
  return next
}

export const pick = <T>(list: readonly T[], random: Random): T =>
  list[Math.floor(random() * list.length)] as T

/** @returns a function that picks an item: an item of twice the weight comes twice as often */
export function createWeightedPicker<T>(
  items: readonly (readonly [weight: number, item: T])[],
): (random: Random) => T {
  const sums: number[] = []
  let total = 0
  for (const [weight] of items) {
    total += weight
    sums.push(total)
  }
  return (random) => {
    const at = random() * total
    let [low, high] = [0, sums.length - 1]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((sums[middle] as number) > at) high = middle
      else low = middle + 1
    }
    return (items[low] as readonly [number, T])[1]
  }
}

/** 64 random bits as decimal digits, in the form of a visitor id. */
export const randomDigits64 = (random: Random) =>
  ((BigInt(Math.floor(random() * 2 ** 32)) << 32n) | BigInt(Math.floor(random() * 2 ** 32))).toString()

/** Splits `count` into whole numbers in proportion to the weights. The numbers add up to `count`. */
export function distributeByWeight(count: number, weights: readonly number[]): number[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  let weightSoFar = 0
  let countSoFar = 0
  return weights.map((weight) => {
    weightSoFar += weight
    const share = Math.round((weightSoFar / total) * count) - countSoFar
    countSoFar += share
    return share
  })
}
