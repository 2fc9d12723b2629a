// Solves the proof of work of a form's captcha: ALTCHA's first scheme, which searches the number whose SHA-256 after a
// salt is the challenge. The SHA-256 is implemented here, because pages on plain http have no `crypto.subtle`, and because
// that returns a promise for each of the many short hashes.

/** The challenge, as `/e/forms` has it. */
export interface Challenge {
  algorithm: string
  challenge: string
  maxnumber: number
  salt: string
  signature: string
}

/** The longest time without a pause: a person notices a page that does not react for 50 ms. */
const TURN_MS = 20
/** Hashes between two reads of the clock: less than a millisecond on a fast machine, a few on a slow phone. */
const HASHES_PER_CLOCK_READ = 512

/** @returns the token for the form's captcha field; undefined when aborted, or without a solution */
export async function solve(
  { algorithm, challenge, maxnumber, salt, signature }: Challenge,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const isSolution = createCheck(challenge, salt)
  let number = 0
  while (number <= maxnumber && !signal?.aborted) {
    const until = Date.now() + TURN_MS
    do {
      const end = Math.min(number + HASHES_PER_CLOCK_READ, maxnumber + 1)
      for (; number < end; number++) {
        if (isSolution(number)) return btoa(JSON.stringify({ algorithm, challenge, number, salt, signature }))
      }
    } while (number <= maxnumber && Date.now() < until)
    await new Promise((resolve) => setTimeout(resolve))
  }
}

/**
 * @returns a function that tells whether `hex` is the SHA-256 of `salt` and a number. It hashes the whole blocks of the
 *   salt only once.
 */
function createCheck(hex: string, salt: string): (number: number) => boolean {
  const [start, rounds] = constants()
  const saltBytes = new TextEncoder().encode(salt)
  const digitsAt = saltBytes.length
  const whole = digitsAt & ~63
  // After the whole blocks come at most 63 bytes of salt, 10 digits and 9 bytes of padding.
  const message = new Uint8Array(whole + 128)
  message.set(saltBytes)
  const view = new DataView(message.buffer)
  for (let at = 0; at < whole; at += 64) addBlock(start, rounds, view, at)

  const state = new Int32Array(8)
  const wanted = Array.from(state, (_, i) => Number.parseInt(hex.slice(i * 8, i * 8 + 8), 16) | 0)
  let digits = 0
  let end = 0

  return (number) => {
    const { length } = String(number)
    if (length !== digits) {
      digits = length
      const padAt = digitsAt + digits
      end = (padAt + 72) & ~63
      message.fill(0, digitsAt)
      message[padAt] = 128
      view.setUint32(end - 4, padAt * 8)
    }
    for (let rest = number, at = digitsAt + digits; at-- > digitsAt; rest = (rest / 10) | 0) {
      message[at] = 48 + (rest % 10)
    }
    state.set(start)
    for (let at = whole; at < end; at += 64) addBlock(state, rounds, view, at)
    return state[0] === wanted[0] && wanted.every((word, i) => word === state[i])
  }
}

const w = new Int32Array(64)

/** One block of SHA-256 (FIPS 180-4, 6.2.2): adds the 64 bytes at `at` to the state. */
function addBlock(state: Int32Array, rounds: Int32Array, view: DataView, at: number) {
  // The types do not know that every index is in its array. `| 0` keeps the numbers 32-bit integers.
  let a = state[0] as number
  let b = state[1] as number
  let c = state[2] as number
  let d = state[3] as number
  let e = state[4] as number
  let f = state[5] as number
  let g = state[6] as number
  let h = state[7] as number
  for (let i = 0; i < 64; i++) {
    if (i < 16) w[i] = view.getInt32(at + i * 4)
    else {
      const x = w[i - 15] as number
      const y = w[i - 2] as number
      w[i] =
        ((((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3)) +
          (((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10)) +
          (w[i - 16] as number) +
          (w[i - 7] as number)) |
        0
    }
    const t =
      (h +
        (((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7))) +
        ((e & f) ^ (~e & g)) +
        (rounds[i] as number) +
        (w[i] as number)) |
      0
    const u =
      ((((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10))) +
        ((a & b) ^ (a & c) ^ (b & c))) |
      0
    h = g
    g = f
    f = e
    e = (d + t) | 0
    d = c
    c = b
    b = a
    a = (t + u) | 0
  }
  // One statement for each word: a new array for each block would take half as long as the block.
  state[0] = (state[0] as number) + a
  state[1] = (state[1] as number) + b
  state[2] = (state[2] as number) + c
  state[3] = (state[3] as number) + d
  state[4] = (state[4] as number) + e
  state[5] = (state[5] as number) + f
  state[6] = (state[6] as number) + g
  state[7] = (state[7] as number) + h
}

/** The first 32 fractional bits of the square roots of the first 8 primes, and of the cube roots of the first 64. */
function constants(): [Int32Array, Int32Array] {
  const start = new Int32Array(8)
  const rounds = new Int32Array(64)
  for (let prime = 2, found = 0; found < 64; prime++) {
    let factor = 2
    while (prime % factor) factor++
    if (factor < prime) continue
    start[found] = (prime ** (1 / 2) % 1) * 2 ** 32
    rounds[found++] = (prime ** (1 / 3) % 1) * 2 ** 32
  }
  return [start, rounds]
}
