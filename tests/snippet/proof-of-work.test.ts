// Compares the snippet's proof-of-work solver with altcha-lib, the reference implementation.

import { expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { createChallenge, verifySolution } from 'altcha-lib/v1'
import fc from 'fast-check'
import { type Challenge, solve } from '../../snippet/proof-of-work.ts'

const KEY = 'a key'
const SOURCE = join(import.meta.dir, '../../snippet/proof-of-work.ts')

/** Creates a challenge whose solution is `number`. */
function createChallengeFor(salt: string, number: number, maxnumber = number): Challenge {
  const challenge = createHash('sha256').update(`${salt}${number}`).digest('hex')
  return { algorithm: 'SHA-256', challenge, maxnumber, salt, signature: 'signed' }
}
const readNumber = (token: string | undefined) => JSON.parse(atob(token ?? 'bnVsbA=='))?.number

async function buildMinified(): Promise<string> {
  const { outputs } = await Bun.build({ entrypoints: [SOURCE], target: 'browser', minify: true })
  return (await outputs[0]?.text()) ?? ''
}

test('solves challenges of ALTCHA, and ALTCHA accepts the tokens', async () => {
  for (const number of [0, 1, 9, 10, 99, 100, 4321]) {
    const challenge = await createChallenge({
      hmacKey: KEY,
      maxnumber: 5000,
      number,
      expires: new Date(Date.UTC(2100, 0, 1)),
      params: { form: 'abcdefghjk' },
    })
    const token = await solve(challenge as Challenge)
    expect(readNumber(token)).toBe(number)
    expect(await verifySolution(token ?? '', KEY)).toBe(true)
  }
})

test('computes SHA-256 correctly for salts of every length', async () => {
  for (let length = 0; length <= 200; length++) {
    const salt = 's'.repeat(length)
    expect([length, readNumber(await solve(createChallengeFor(salt, 105)))]).toEqual([length, 105])
  }
})

test('computes SHA-256 correctly for every ASCII text', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: 'binary-ascii', maxLength: 150 }),
      fc.nat(40),
      async (salt, number) => {
        expect(readNumber(await solve(createChallengeFor(salt, number)))).toBe(number)
      },
    ),
    { numRuns: 500 },
  )
})

test('returns undefined when there is no solution', async () => {
  expect(await solve(createChallengeFor('salt', 2001, 2000))).toBeUndefined()
  expect(await solve({ ...createChallengeFor('salt', 5), challenge: 'not hex' })).toBeUndefined()
})

test('does not block the page, and stops when it is aborted', async () => {
  const stop = new AbortController()
  let turns = 0
  const page = setInterval(() => {
    turns++
    if (turns === 5) stop.abort()
  }, 0)
  expect(await solve(createChallengeFor('salt', 2_000_000_000), stop.signal)).toBeUndefined()
  clearInterval(page)
  expect(turns).toBeGreaterThanOrEqual(5)
})

test('does nothing when it is aborted before the start', async () => {
  expect(await solve(createChallengeFor('salt', 0), AbortSignal.abort())).toBeUndefined()
})

test('is small, imports nothing, and needs no crypto.subtle, no eval and no worker', async () => {
  const code = await buildMinified()
  expect(Bun.gzipSync(Buffer.from(code)).length).toBeLessThan(1536)
  expect(code).not.toMatch(/\bimport\b|\brequire\b|\bcrypto\b|\beval\b|\bFunction\b|\bWorker\b/)
})
