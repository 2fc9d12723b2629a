// Counts by link and UTC day, for millions of pairs: an open hash table of numbers, 20 bytes a slot.

const FIRST_SLOTS = 1 << 12
const DAYS = 100_000
/** A prime below 2^32, so that the upper half of a key counts too. */
const PRIME = 4_294_967_291
/** 2^32 divided by the golden ratio, which puts neighbors far from each other. */
const SPREAD = 0x9e3779b1

/** A pair as one number below 2^53: 90 billion links, and days until the year 2243. */
const toKey = (linkId: number, day: number) => linkId * DAYS + day

export class DayCounts {
  /** 0 is an empty slot, because no link has the id 0. */
  #keys = new Float64Array(FIRST_SLOTS)
  /** Clicks to skip, and then clicks to take. */
  #first = new Uint32Array(FIRST_SLOTS)
  #second = new Uint32Array(FIRST_SLOTS)
  #size = 0

  get size(): number {
    return this.#size
  }

  /** Adds one to the pair's clicks. */
  count(linkId: number, day: number): void {
    if (this.#size * 2 >= this.#keys.length) this.#grow()
    const slot = this.#find(toKey(linkId, day))
    if (this.#keys[slot] === 0) {
      this.#keys[slot] = toKey(linkId, day)
      this.#size++
    }
    this.#first[slot] = (this.#first[slot] as number) + 1
  }

  /** The pairs in parts: link, day, link, day … */
  *listPairs(atOnce: number): Generator<Float64Array> {
    let pairs: number[] = []
    for (const key of this.#keys) {
      if (key === 0) continue
      pairs.push(Math.floor(key / DAYS), key % DAYS)
      if (pairs.length < atOnce * 2) continue
      yield Float64Array.from(pairs)
      pairs = []
    }
    if (pairs.length > 0) yield Float64Array.from(pairs)
  }

  /**
   * Decides which clicks of a pair are new: as many as other imports lack. They are the last ones if the file is in ascending
   * order, else the first ones.
   */
  plan(linkId: number, day: number, brought: number, isForward: boolean): void {
    const slot = this.#find(toKey(linkId, day))
    const clicks = this.#first[slot] as number
    const fresh = Math.max(0, clicks - brought)
    this.#first[slot] = isForward ? clicks - fresh : 0
    this.#second[slot] = fresh
  }

  /** @returns true if the next click of the pair is new, after `plan` */
  take(linkId: number, day: number): boolean {
    const slot = this.#find(toKey(linkId, day))
    if ((this.#first[slot] as number) > 0) {
      this.#first[slot] = (this.#first[slot] as number) - 1
      return false
    }
    if ((this.#second[slot] as number) === 0) return false
    this.#second[slot] = (this.#second[slot] as number) - 1
    return true
  }

  /** The slot of the key, or the empty slot for it. */
  #find(key: number): number {
    const mask = this.#keys.length - 1
    let slot = Math.imul((key % PRIME) | 0, SPREAD) >>> (Math.clz32(mask) % 32)
    while (this.#keys[slot] !== 0 && this.#keys[slot] !== key) slot = (slot + 1) & mask
    return slot
  }

  #grow(): void {
    const [keys, first, second] = [this.#keys, this.#first, this.#second]
    this.#keys = new Float64Array(keys.length * 2)
    this.#first = new Uint32Array(keys.length * 2)
    this.#second = new Uint32Array(keys.length * 2)
    for (let old = 0; old < keys.length; old++) {
      if (keys[old] === 0) continue
      const slot = this.#find(keys[old] as number)
      this.#keys[slot] = keys[old] as number
      this.#first[slot] = first[old] as number
      this.#second[slot] = second[old] as number
    }
  }
}
