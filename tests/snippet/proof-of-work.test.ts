// The snippet's solver, held against the reference implementation of the scheme.

import { expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { createChallenge, verifySolution } from 'altcha-lib/v1'
import fc from 'fast-check'
import { type Challenge, solve } from '../../snippet/proof-of-work.ts'

const KEY = 'a key'
const SOURCE = join(import.meta.dir, '../../snippet/proof-of-work.ts')

/** Number and salt chosen, the rest as a server makes it. */
function challengeFor(salt: string, number: number, maxnumber = number): Challenge {
  const challenge = createHash('sha256').update(`${salt}${number}`).digest('hex')
  return { algorithm: 'SHA-256', challenge, maxnumber, salt, signature: 'signed' }
}
const numberIn = (token: string | undefined) => JSON.parse(atob(token ?? 'bnVsbA=='))?.number

async function minified(): Promise<string> {
  const { outputs } = await Bun.build({ entrypoints: [SOURCE], target: 'browser', minify: true })
  return (await outputs[0]?.text()) ?? ''
}

test('solves what ALTCHA makes, and ALTCHA takes the token', async () => {
  for (const number of [0, 1, 9, 10, 99, 100, 4321]) {
    const made = await createChallenge({
      hmacKey: KEY,
      maxnumber: 5000,
      number,
      expires: new Date(Date.now() + 60_000),
      params: { form: 'abcdefghjk' },
    })
    const token = await solve(made as Challenge)
    expect(numberIn(token)).toBe(number)
    expect(await verifySolution(token ?? '', KEY)).toBe(true)
  }
})

test('its SHA-256 is right for salts of every length', async () => {
  for (let length = 0; length <= 200; length++) {
    const salt = 's'.repeat(length)
    expect([length, numberIn(await solve(challengeFor(salt, 105)))]).toEqual([length, 105])
  }
})

test('its SHA-256 is right for every ASCII text', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: 'binary-ascii', maxLength: 150 }),
      fc.nat(40),
      async (salt, number) => {
        expect(numberIn(await solve(challengeFor(salt, number)))).toBe(number)
      },
    ),
    { numRuns: 500 },
  )
})

test('gives up where there is no solution', async () => {
  expect(await solve(challengeFor('salt', 2001, 2000))).toBeUndefined()
  expect(await solve({ ...challengeFor('salt', 5), challenge: 'not hex' })).toBeUndefined()
})

test('lets the page live meanwhile, and stops when it is told to', async () => {
  const stop = new AbortController()
  let turns = 0
  const page = setInterval(() => {
    turns++
    if (turns === 5) stop.abort()
  }, 0)
  expect(await solve(challengeFor('salt', 2_000_000_000), stop.signal)).toBeUndefined()
  clearInterval(page)
  expect(turns).toBeGreaterThanOrEqual(5)
})

test('does nothing for who has gone already', async () => {
  expect(await solve(challengeFor('salt', 0), AbortSignal.abort())).toBeUndefined()
})

test('is small, imports nothing, and needs no crypto.subtle, no eval and no worker', async () => {
  const code = await minified()
  expect(Bun.gzipSync(Buffer.from(code)).length).toBeLessThan(1536)
  expect(code).not.toMatch(/\bimport\b|\brequire\b|\bcrypto\b|\beval\b|\bFunction\b|\bWorker\b/)
})
