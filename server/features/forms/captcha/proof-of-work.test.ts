import { beforeAll, describe, expect, setSystemTime, test } from 'bun:test'
import { createHash, hkdfSync } from 'node:crypto'
import { verifySolution } from 'altcha-lib/v1'
import fc from 'fast-check'
import { type Challenge, solve } from '../../../../snippet/proof-of-work.ts'
import { atScale } from '../../../../tests/support/suite.ts'
import { onBothEngines } from '../../../../tests/support/world.ts'
import type { Connection } from '../../../storage/database/open-database.ts'
import type { VerifiedToken } from './captcha-provider.ts'
import { createCaptchaProvider } from './create-captcha-provider.ts'
import { pruneSpentTokens } from './spent-tokens.ts'

const SECRET = 'f3a9c1d7'.repeat(4)
const FORM = 'abcdefghjk'
const MINUTE = 60_000

/** Creates a provider whose clock the test sets. */
function openAt(secret = SECRET) {
  const clock = { now: Date.UTC(2026, 4, 10, 12) }
  return Object.assign(createCaptchaProvider({ secret, now: () => clock.now }), { clock })
}
type Opened = ReturnType<typeof openAt>

const challengeOf = (opened: Opened, formKey = FORM) =>
  (opened.describe(formKey) as { challenge: Challenge }).challenge
async function tokenOf(opened: Opened, formKey = FORM): Promise<string> {
  const token = await solve(challengeOf(opened, formKey))
  if (token === undefined) throw new Error('a challenge of ours has no solution')
  return token
}
const check = (opened: Opened, token: string, formKey = FORM) =>
  opened.check({ formKey, token, address: '203.0.113.7' })
const counted = (opened: Opened) =>
  Object.fromEntries(
    opened
      .metrics()
      .filter(({ value }) => value > 0)
      .map(({ labels, value }) => [labels?.outcome, value]),
  )
// biome-ignore lint/suspicious/noExplicitAny: made to be broken
const changed = (token: string, change: (payload: any) => unknown) => {
  const payload = JSON.parse(atob(token))
  return btoa(JSON.stringify(change(payload) ?? payload))
}

describe('a challenge', () => {
  test('has the format of ALTCHA’s first scheme', () => {
    const opened = openAt()
    expect(opened.describe(FORM)).toEqual({
      provider: 'altcha',
      challenge: {
        algorithm: 'SHA-256',
        challenge: expect.stringMatching(/^[0-9a-f]{64}$/),
        maxnumber: expect.any(Number),
        salt: expect.stringMatching(/^[0-9a-f]{32}\?expires=\d{10}&form=abcdefghjk&$/),
        signature: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    })
  })

  test('is different each time, and does not reveal its number', () => {
    const opened = openAt()
    const made = Array.from({ length: 100 }, () => challengeOf(opened))
    expect(new Set(made.map(({ salt }) => salt)).size).toBe(100)
    expect(new Set(made.map(({ challenge }) => challenge)).size).toBe(100)
  })

  test('has a solution that ALTCHA’s own verifier accepts', async () => {
    const opened = openAt()
    const token = await tokenOf(opened)
    const key = Buffer.from(hkdfSync('sha256', SECRET, '', 'towpath proof of work', 32)).toString('hex')
    // It reads the clock itself.
    setSystemTime(opened.clock.now)
    const accepted = await verifySolution(token, key)
    setSystemTime()
    expect(accepted).toBe(true)
  })
})

describe('a solution', () => {
  let opened: Opened
  let token: string
  beforeAll(async () => {
    opened = openAt()
    token = await tokenOf(opened)
  })

  test('is valid for its form for ten minutes', async () => {
    const start = opened.clock.now
    for (const [after, good] of [
      [0, true],
      [10 * MINUTE - 1001, true],
      [10 * MINUTE, false],
      [60 * MINUTE, false],
    ] as const) {
      opened.clock.now = start + after
      expect([after, (await check(opened, token)) !== undefined]).toEqual([after, good])
    }
    opened.clock.now = start
  })

  test('is invalid for another form, and for an installation with another secret', async () => {
    expect(await check(opened, token, 'zzzzzzzzzz')).toBeUndefined()
    expect(await check(openAt('a1b2c3d4'.repeat(4)), token)).toBeUndefined()
    expect(await check(openAt(), token)).toBeDefined()
  })

  test.each([
    ['another number', (p) => ({ ...p, number: p.number === 0 ? 1 : p.number - 1 })],
    ['a number beyond the largest', (p) => ({ ...p, number: 1e9 })],
    ['a number as text', (p) => ({ ...p, number: String(p.number) })],
    ['half a number', (p) => ({ ...p, number: p.number + 0.5 })],
    ['a negative number', (p) => ({ ...p, number: -1 })],
    ['no number', (p) => ({ ...p, number: undefined })],
    ['a later expiry', (p) => ({ ...p, salt: p.salt.replace(/expires=\d+/, 'expires=9999999999') })],
    ['no expiry', (p) => ({ ...p, salt: p.salt.replace(/expires=\d+&/, '') })],
    ['another form', (p) => ({ ...p, salt: p.salt.replace(FORM, 'zzzzzzzzzz') })],
    ['digits moved into the salt', (p) => ({ ...p, ...moved(p) })],
    ['digits moved into the expiry', (p) => ({ ...p, ...moved(p), salt: `${p.salt}&expires=9999999999&` })],
    ['another signature', (p) => ({ ...p, signature: '0'.repeat(64) })],
    ['a short signature', (p) => ({ ...p, signature: p.signature.slice(1) })],
    ['a signature in capitals', (p) => ({ ...p, signature: p.signature.toUpperCase() })],
    ['a challenge of its own', (p) => ({ ...p, challenge: sha256(`${p.salt}1`), number: 1 })],
    ['another algorithm', (p) => ({ ...p, algorithm: 'SHA-1' })],
    ['no salt', (p) => ({ ...p, salt: null })],
    ['a list', (p) => [p]],
    ['null', () => null],
    // biome-ignore lint/suspicious/noExplicitAny: made to be broken
  ] as [string, (payload: any) => unknown][])('is refused with %s', async (_, change) => {
    const before = counted(opened).refused ?? 0
    expect(
      await check(
        opened,
        changed(token, (payload) => change(payload) ?? 'null'),
      ),
    ).toBeUndefined()
    expect(counted(opened).refused).toBe(before + 1)
  })

  test('is refused when it is longer than 4 KB', async () => {
    const long = changed(token, (p) => ({ ...p, took: 'x'.repeat(4096) }))
    expect(await check(opened, long)).toBeUndefined()
    expect(
      await check(
        opened,
        changed(token, (p) => ({ ...p, took: 12 })),
      ),
    ).toBeDefined()
  })

  test('no random token throws or passes', async () => {
    const maxLength = atScale({ quick: 500, full: 5_000, soak: 5_000 })
    const texts = fc.oneof(
      fc.string({ unit: 'binary', maxLength }),
      fc.base64String({ maxLength }),
      fc.json().map((json) => Buffer.from(json).toString('base64')),
      fc.record({ number: fc.anything(), salt: fc.anything(), challenge: fc.anything() }).map((part) => {
        return changed(token, (p) => ({ ...p, ...part }))
      }),
      fc.constant('W'.repeat(4096)),
    )
    const fresh = openAt()
    let asked = 0
    await fc.assert(
      fc.asyncProperty(texts, async (text) => {
        asked++
        expect(await check(fresh, text)).toBeUndefined()
      }),
      { numRuns: atScale({ quick: 100, full: 2_000, soak: 20_000 }) },
    )
    expect(counted(fresh)).toEqual({ refused: asked })
  })
})

test('metrics count the tokens by outcome', async () => {
  const opened = openAt()
  const token = await tokenOf(opened)
  await check(opened, token)
  await check(opened, token, 'zzzzzzzzzz')
  await check(opened, 'x')
  expect(opened.metrics().map(({ name, labels, value }) => [name, labels, value])).toEqual(
    Object.entries({ passed: 1, refused: 1, foreign: 1, replayed: 0 }).map(([outcome, value]) => [
      'towpath_captcha_tokens_total',
      { provider: 'altcha', outcome },
      value,
    ]),
  )
})

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const moved = ({ salt, number }: { salt: string; number: number }) => ({
  salt: `${salt}${String(number)[0]}`,
  number: Number(String(number).slice(1)),
})

const JUNK = atScale({ quick: 500, full: 10_000, soak: 10_000 })

onBothEngines('a token', (server) => {
  const rows = () => server().app.db
  class Replayed extends Error {}

  /** Spends a token as a submission does. */
  const spend = (good: VerifiedToken | undefined) =>
    rows()
      .write(async (connection) => {
        if (!(await good?.spend(connection))) throw new Replayed()
      })
      .then(
        () => true,
        (error) => {
          if (error instanceof Replayed) return false
          throw error
        },
      )
  const stored = async () => {
    const { n } = await rows()
      .read.selectFrom('captcha_tokens')
      .select((eb) => eb.fn.countAll<number>().as('n'))
      .executeTakeFirstOrThrow()
    return Number(n)
  }

  test('works once, even with 50 parallel replays', async () => {
    const opened = openAt()
    const token = await tokenOf(opened)
    const before = await stored()
    const replays = await Promise.all(
      Array.from({ length: 50 }, async () => spend(await check(opened, token))),
    )
    expect(replays.filter((won) => won)).toHaveLength(1)
    expect(await stored()).toBe(before + 1)
    expect(counted(opened)).toMatchObject({ passed: 50, replayed: 49 })
    // The same token, written as another text.
    expect(
      await spend(
        await check(
          opened,
          changed(token, (p) => ({ ...p, took: 1 })),
        ),
      ),
    ).toBe(false)
    expect(await spend(await check(openAt(), token))).toBe(false)
  })

  test(`stays spent after ${JUNK} junk tokens, of which nothing is stored`, async () => {
    const opened = openAt()
    const token = await tokenOf(opened)
    expect(await spend(await check(opened, token))).toBe(true)
    const before = await stored()
    for (let i = 0; i < JUNK; i++) {
      const junk = changed(token, (p) => ({ ...p, challenge: sha256(String(i)), signature: sha256(`s${i}`) }))
      expect(await check(opened, junk)).toBeUndefined()
    }
    expect([await stored(), await spend(await check(opened, token))]).toEqual([before, false])
  })

  test('is unspent again when its submission is rolled back', async () => {
    const opened = openAt()
    const token = await tokenOf(opened)
    const failed = rows().write(async (connection: Connection) => {
      expect(await (await check(opened, token))?.spend(connection)).toBe(true)
      throw new Error('the submission failed')
    })
    await expect(failed).rejects.toThrow('the submission failed')
    expect(await spend(await check(opened, token))).toBe(true)
  })

  test('is deleted some time after it expires, and not before', async () => {
    const opened = openAt()
    await pruneSpentTokens(rows(), opened.clock.now + 60 * MINUTE)
    expect(await stored()).toBe(0)
    const start = opened.clock.now
    const token = await tokenOf(opened)
    const good = await check(opened, token)
    expect(await spend(good)).toBe(true)
    // A token that was checked at the last moment, and has waited for its transaction since.
    await pruneSpentTokens(rows(), start + 15 * MINUTE)
    expect([await stored(), await spend(good)]).toEqual([1, false])
    await pruneSpentTokens(rows(), start + 21 * MINUTE)
    expect(await stored()).toBe(0)
    opened.clock.now = start + 21 * MINUTE
    expect(await check(opened, token)).toBeUndefined()
  })
})
