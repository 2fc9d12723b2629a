// The built-in captcha, which needs no other service: the visitor's browser searches for the number whose SHA-256 after
// our salt equals our challenge. The format is ALTCHA's proof of work, version 1 (https://altcha.org), so
// that its clients work too. The server stores only which challenges were used: the salt names the form and the expiry,
// and the signature covers the salt.

import { createHash, createHmac, hkdfSync, randomBytes, randomInt, timingSafeEqual } from 'node:crypto'
import {
  type CaptchaProvider,
  type CaptchaTokenInput,
  createTokenMetrics,
  type TokenOutcome,
} from './captcha-provider.ts'
import { spendToken } from './spent-tokens.ts'

const VALID_MS = 10 * 60_000

/**
 * The number is random between 0 and this, so a browser tries half of the range on average. Measured with our own
 * solver in Chromium 156 on a Xeon that makes 2 million hashes a second:
 *
 * | throttled | like a | hashes a second | average | worst |
 * |---|---|---|---|---|
 * | 6 times | usual phone | 350,000 to 380,000 | 0.3 s | 0.6 s |
 * | 20 times | slow phone | 80,000 to 190,000 | 0.5 to 1.2 s | 1 to 2.5 s |
 *
 * The search runs while the visitor fills in the form.
 */
const NUMBER_MAX = 200_000

/** A token has about 340 characters. A longer one is refused unread. */
const TOKEN_MAX = 4096

// The salt ends with "&". Otherwise a client could move digits from the number to the end of the salt, and extend the
// expiry under the same hash.
const SALT = /^[0-9a-f]{32}\?expires=(\d{1,12})&form=([\w-]{1,64})&$/

interface Token {
  challenge: string
  number: number
  salt: string
  signature: string
}

export function createProofOfWork({ secret, now }: { secret: string; now: () => number }): CaptchaProvider {
  // Hex text, because other implementations of the scheme take text as the key.
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'towpath proof of work', 32)).toString('hex')
  const sign = (challenge: string) => createHmac('sha256', key).update(challenge).digest('hex')
  const { count, metrics } = createTokenMetrics('altcha', ['passed', 'refused', 'foreign', 'replayed'])

  /** Checks everything except whether the token was used. */
  function verify({ token, formKey }: CaptchaTokenInput): {
    outcome: TokenOutcome
    challenge: string
    expiresAt: number
  } {
    const refused = { outcome: 'refused' as const, challenge: '', expiresAt: 0 }
    const parsed = parseToken(token)
    const [, expires, form] = SALT.exec(parsed?.salt ?? '') ?? []
    const expiresAt = Number(expires) * 1000
    if (!parsed || !form || expiresAt <= now()) return refused
    const { challenge, number, salt, signature } = parsed
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
    async check(input) {
      const { outcome, challenge, expiresAt } = verify(input)
      count(outcome)
      if (outcome !== 'passed') return undefined
      return {
        async spend(connection) {
          // By challenge: the same token can be written as text in many ways.
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

/** @returns undefined for text that no solver makes */
function parseToken(text: string): Token | undefined {
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
    // Not base64, or not JSON. The caller counts the token as refused.
    return undefined
  }
}

const HEX = /^[0-9a-f]{64}$/
