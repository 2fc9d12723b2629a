// Chance that comes out the same each time: the demonstration is one picture, told again.

export type Random = () => number

/** sfc32: 128 bits of state, passes PractRand, and a few nanoseconds a number. */
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

/** Draws by weight: the heavier, the more often. */
export function createWeightedPicker<T>(
  items: readonly (readonly [weight: number, item: T])[],
): (random: Random) => T {
  const reached: number[] = []
  let total = 0
  for (const [weight] of items) {
    total += weight
    reached.push(total)
  }
  return (random) => {
    const at = random() * total
    let [low, high] = [0, reached.length - 1]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((reached[middle] as number) > at) high = middle
      else low = middle + 1
    }
    return (items[low] as readonly [number, T])[1]
  }
}

/** 64 bits as decimal digits, as visitors are named. */
export const randomDigits64 = (random: Random) =>
  ((BigInt(Math.floor(random() * 2 ** 32)) << 32n) | BigInt(Math.floor(random() * 2 ** 32))).toString()

/** So many in all, each place its part by weight: whole numbers that add up. */
export function distributeByWeight(count: number, weights: readonly number[]): number[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  let reached = 0
  let given = 0
  return weights.map((weight) => {
    reached += weight
    const here = Math.round((reached / total) * count) - given
    given += here
    return here
  })
}
