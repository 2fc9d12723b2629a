// Cloudflare Turnstile: the browser gets a token from Cloudflare, and Cloudflare says whether the token is valid. Where
// Cloudflare gives no answer, the token is refused, and the operator's log and metrics say why.
// https://developers.cloudflare.com/turnstile/get-started/server-side-validation/

import { log } from '../../../lib/log.ts'
import { isHostAllowed } from '../settings/allowed-origins.ts'
import {
  type CaptchaProvider,
  type CaptchaTokenInput,
  createTokenMetrics,
  type TokenOutcome,
} from './captcha-provider.ts'
import { spendToken } from './spent-tokens.ts'

export interface TurnstileKeys {
  siteKey: string
  secretKey: string
  /** The address that verifies tokens: Cloudflare's own, unless the operator has a proxy to it. */
  verifyUrl: string
}

export interface TurnstileNeeds {
  keys: TurnstileKeys
  now: () => number
  /** The time limit of both attempts together, because a person waits for the answer. */
  timeoutMs?: number
}

// Both numbers are from Cloudflare's documentation of siteverify (see above).
const TOKEN_MAX = 2048
const VALID_MS = 300_000

const TIMEOUT_MS = 5_000

/** The snippet gives the widget this action, and the form key as `cData`. Cloudflare returns both with the token. */
const ACTION = 'form'

/** The verifier's answer. Only `success` has a checked type. */
type SiteverifyReply = Record<string, unknown> & { success: boolean }

export function createTurnstile({ keys, now, timeoutMs = TIMEOUT_MS }: TurnstileNeeds): CaptchaProvider {
  const { count, metrics } = createTokenMetrics('turnstile', [
    'passed',
    'refused',
    'foreign',
    'replayed',
    'unavailable',
    'misconfigured',
  ])
  if (TESTING_SECRET.test(keys.secretKey)) {
    log.warn('turnstile_testing_key', { fix: 'TURNSTILE_SECRET_KEY is for tests: it protects no form.' })
  }

  return {
    describe: () => ({ provider: 'turnstile', siteKey: keys.siteKey }),
    async check(input) {
      if (input.token.length > TOKEN_MAX) {
        count('refused')
        return undefined
      }
      const checkedAt = now()
      const reply = await verifyWithRetry(keys, input, AbortSignal.timeout(timeoutMs))
      const outcome = typeof reply === 'string' ? reportUnavailable(reply) : toOutcome(reply, input)
      count(outcome)
      if (typeof reply === 'string' || outcome !== 'passed') return undefined
      return {
        async spend(connection) {
          // Cloudflare's testing keys give everybody the same token.
          if (isTesting(reply)) return true
          const unspent = await spendToken(connection, input.token, checkedAt + VALID_MS)
          if (!unspent) count('replayed')
          return unspent
        },
      }
    },
    metrics,
  }
}

const TESTING_SECRET = /^[123]x0{30,}AA$/

const isTesting = ({ metadata }: SiteverifyReply) =>
  (metadata as { result_with_testing_key?: unknown } | undefined)?.result_with_testing_key === true

function reportUnavailable(reason: string): TokenOutcome {
  log.error('turnstile_unavailable', { reason })
  return 'unavailable'
}

function toOutcome(reply: SiteverifyReply, { formKey, origins = [] }: CaptchaTokenInput): TokenOutcome {
  if (!reply.success) return toRefusedOutcome(readErrorCodes(reply))
  // The reply to a testing key has the hostname example.com for every page.
  if (isTesting(reply)) return 'passed'
  const mismatch =
    (differs(reply.action, (action) => action === ACTION) && 'action') ||
    (differs(reply.cdata, (cdata) => cdata === formKey) && 'cdata') ||
    (differs(reply.hostname, (host) => isHostAllowed(origins, host)) && 'hostname')
  if (!mismatch) return 'passed'
  log.warn('turnstile_token_for_another', { wrong: mismatch, formKey })
  return 'foreign'
}

/**
 * A token of one of our pages must not work on another. A value that the reply omits is not compared: the author of a
 * widget chooses its values freely, so omitting one gives an attacker no advantage.
 */
const differs = (value: unknown, fits: (value: string) => boolean) =>
  typeof value === 'string' && value !== '' && !fits(value)

function toRefusedOutcome(codes: string[]): TokenOutcome {
  if (codes.some((code) => /^(missing|invalid)-input-secret$/.test(code))) {
    log.error('turnstile_secret_refused', {
      fix: 'TURNSTILE_SECRET_KEY is not a key that the verifier knows.',
    })
    return 'misconfigured'
  }
  if (codes.includes('internal-error')) return reportUnavailable('internal-error')
  return 'refused'
}

const readErrorCodes = (reply: SiteverifyReply) => {
  const codes = reply['error-codes']
  return Array.isArray(codes) ? codes.filter((code) => typeof code === 'string') : []
}

/** @returns the verifier's answer, or the reason why there is none */
async function verifyWithRetry(
  keys: TurnstileKeys,
  { token, address }: CaptchaTokenInput,
  signal: AbortSignal,
): Promise<SiteverifyReply | string> {
  // With the same idempotency key, the retry counts as the same request, and the token does not count as used.
  const body = new URLSearchParams({
    secret: keys.secretKey,
    response: token,
    remoteip: address,
    idempotency_key: crypto.randomUUID(),
  })
  const first = await callSiteverify(keys.verifyUrl, body, signal)
  const retry =
    typeof first === 'string' ? first !== 'unreadable' : readErrorCodes(first).includes('internal-error')
  return retry && !signal.aborted ? callSiteverify(keys.verifyUrl, body, signal) : first
}

async function callSiteverify(
  url: string,
  body: URLSearchParams,
  signal: AbortSignal,
): Promise<SiteverifyReply | string> {
  try {
    // The operator sets the address. A redirect is not followed, because the secret is for this address alone.
    const response = await fetch(url, { method: 'POST', body, signal, redirect: 'manual' })
    const text = await response.text()
    return response.status >= 500 ? `status ${response.status}` : (readReply(text) ?? 'unreadable')
  } catch (error) {
    // Name and code only: the message may repeat the address, which may hold a secret of the operator.
    const { name, code } = error as Error & { code?: unknown }
    return typeof code === 'string' ? code : name
  }
}

function readReply(text: string): SiteverifyReply | undefined {
  try {
    const value: unknown = JSON.parse(text)
    const hasSuccess = typeof value === 'object' && value !== null && 'success' in value
    return hasSuccess && typeof value.success === 'boolean' ? (value as SiteverifyReply) : undefined
  } catch {
    // Not JSON: for example the error page of a proxy in between.
    return undefined
  }
}
