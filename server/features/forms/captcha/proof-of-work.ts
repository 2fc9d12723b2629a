// The captcha that needs nobody else: the visitor's browser looks for a number whose SHA-256 behind our salt is our
// challenge (ALTCHA's first scheme, so that its clients work too). Nothing is remembered of a challenge but that it
// was used: what it is worth, and for which form until when, is in its salt, and the salt is in what we signed.

import { createHash, createHmac, hkdfSync, randomBytes, randomInt, timingSafeEqual } from 'node:crypto'
import type { CaptchaProvider, CaptchaTokenInput } from './captcha-provider.ts'
import { spendToken } from './spent-tokens.ts'
import { createTokenMetrics, type TokenOutcome } from './token-metrics.ts'

const VALID_MS = 10 * 60_000

/**
 * The number lies evenly between 0 and this, so half of it are tried on average. Measured with our own solver in
 * Chromium 156 on a Xeon that makes 2 million hashes a second: throttled 6 times (a usual phone) it makes 350,000 to
 * 380,000, throttled 20 times (a slow one) 80,000 to 190,000. That is 0.3 s on average and 0.6 s at worst on the one,
 * 0.5 to 1.2 s on average and 1 to 2.5 s at worst on the other, while the form is being filled in.
 */
const NUMBER_MAX = 200_000

/** A token is about 340 characters; nothing longer is looked into. */
const TOKEN_MAX = 4096

// Closed with "&": otherwise digits could be moved from the number to the end of what is signed, and the expiry grows.
const SALT = /^[0-9a-f]{32}\?expires=(\d{1,12})&form=([\w-]{1,64})&$/

interface Token {
  challenge: string
  number: number
  salt: string
  signature: string
}

export function createProofOfWork({ secret, now }: { secret: string; now: () => number }): CaptchaProvider {
  // As text, for that is what other implementations of the scheme take for a key.
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'towpath proof of work', 32)).toString('hex')
  const sign = (challenge: string) => createHmac('sha256', key).update(challenge).digest('hex')
  const { count, metrics } = createTokenMetrics('altcha', ['passed', 'refused', 'foreign', 'replayed'])

  /** Everything about a token but whether it was used. */
  function judge({ token, formKey }: CaptchaTokenInput): {
    outcome: TokenOutcome
    challenge: string
    expiresAt: number
  } {
    const refused = { outcome: 'refused' as const, challenge: '', expiresAt: 0 }
    const read = readToken(token)
    const [, expires, form] = SALT.exec(read?.salt ?? '') ?? []
    const expiresAt = Number(expires) * 1000
    if (!read || !form || expiresAt <= now()) return refused
    const { challenge, number, salt, signature } = read
    if (!isEqualInConstantTime(signature, sign(challenge))) return refused
    if (!isEqualInConstantTime(challenge, sha256(salt + number))) return refused
    return { outcome: form === formKey ? 'passed' : 'foreign', challenge, expiresAt }
  }

  return {
    describe(formKey) {
      const expires = Math.floor((now() + VALID_MS) / 1000)
      const salt = `${randomBytes(16).toString('hex')}?${new URLSearchParams({ expires: String(expires), form: formKey })}&`
      const challenge = sha256(salt + randomInt(NUMBER_MAX + 1))
      return {
        provider: 'altcha',
        challenge: {
          algorithm: 'SHA-256',
          challenge,
          maxnumber: NUMBER_MAX,
          salt,
          signature: sign(challenge),
        },
      }
    },
    async check(asked) {
      const { outcome, challenge, expiresAt } = judge(asked)
      count(outcome)
      if (outcome !== 'passed') return undefined
      return {
        async spend(connection) {
          // Not the token's text, which can be written in many ways.
          const unspent = await spendToken(connection, challenge, expiresAt)
          if (!unspent) count('replayed')
          return unspent
        },
      }
    },
    metrics,
  }
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

const isEqualInConstantTime = (a: string, b: string) =>
  a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b))

/** @returns undefined for whatever no solver makes */
function readToken(text: string): Token | undefined {
  if (text.length > TOKEN_MAX) return undefined
  try {
    const value: unknown = JSON.parse(atob(text))
    if (typeof value !== 'object' || value === null) return undefined
    const { algorithm, challenge, number, salt, signature } = value as Record<string, unknown>
    if (algorithm !== 'SHA-256' || typeof salt !== 'string') return undefined
    if (typeof number !== 'number' || !Number.isInteger(number) || number < 0 || number > NUMBER_MAX)
      return undefined
    if (typeof challenge !== 'string' || !HEX.test(challenge)) return undefined
    if (typeof signature !== 'string' || !HEX.test(signature)) return undefined
    return { challenge, number, salt, signature }
  } catch {
    // Not base64, or not JSON: sent by a robot that guesses. It is counted as refused.
    return undefined
  }
}

const HEX = /^[0-9a-f]{64}$/
