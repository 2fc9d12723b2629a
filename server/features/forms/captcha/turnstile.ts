// Cloudflare Turnstile: the browser got a token from Cloudflare, and Cloudflare says whether it is good. Whatever
// keeps it from saying so lets nobody through; the operator's log and metrics say why.

import { log } from '../../../lib/log.ts'
import type { CaptchaProvider, CaptchaTokenInput } from './captcha-provider.ts'
import { spendToken } from './spent-tokens.ts'
import { createTokenMetrics, type TokenOutcome } from './token-metrics.ts'

export interface TurnstileKeys {
  siteKey: string
  secretKey: string
  /** Where tokens are verified: Cloudflare's own address unless the operator has another way to it. */
  verifyUrl: string
}

export interface TurnstileNeeds {
  keys: TurnstileKeys
  now: () => number
  /** For both attempts together: a person waits for the answer. */
  timeoutMs?: number
}

// Both from Cloudflare's documentation of siteverify.
const TOKEN_MAX = 2048
const VALID_MS = 300_000

const TIMEOUT_MS = 5_000

/** What the snippet gives the widget, beside the form's key as `cData`; Cloudflare hands both back with the token. */
const ACTION = 'form'

/** An answer that has a `success`; everything else in it is taken as a stranger's. */
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
    async check(asked) {
      if (asked.token.length > TOKEN_MAX) {
        count('refused')
        return undefined
      }
      const askedAt = now()
      const reply = await verifyWithRetry(keys, asked, AbortSignal.timeout(timeoutMs))
      const outcome = typeof reply === 'string' ? reportUnavailable(reply) : judge(reply, asked)
      count(outcome)
      if (typeof reply === 'string' || outcome !== 'passed') return undefined
      return {
        async spend(connection) {
          // The testing keys have one token for everybody.
          if (isTesting(reply)) return true
          const unspent = await spendToken(connection, asked.token, askedAt + VALID_MS)
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

function judge(reply: SiteverifyReply, { formKey, origins = [] }: CaptchaTokenInput): TokenOutcome {
  if (!reply.success) return judgeCodes(readErrorCodes(reply))
  // It says example.com, whatever the page.
  if (isTesting(reply)) return 'passed'
  const wrong =
    (differs(reply.action, (action) => action === ACTION) && 'action') ||
    (differs(reply.cdata, (cdata) => cdata === formKey) && 'cdata') ||
    (differs(reply.hostname, (host) => isAllowedHost(origins, host)) && 'hostname')
  if (!wrong) return 'passed'
  log.warn('turnstile_token_for_another', { wrong, formKey })
  return 'foreign'
}

/**
 * These keep a token of one page of ours from working on another. Nothing is compared where the reply has nothing:
 * whoever makes a widget of his own chooses the values, so that leaving them out gains him nothing.
 */
const differs = (value: unknown, fits: (value: string) => boolean) =>
  typeof value === 'string' && value !== '' && !fits(value)

/** @param origins as forms have them, `https://*.example.com` too; none is any */
function isAllowedHost(origins: string[], hostname: string): boolean {
  if (origins.length === 0) return true
  return origins.some((origin) => {
    const [, wildcard, host] = /^(?:https?:\/\/)?(\*\.)?(.*?)(?::\d+)?$/.exec(origin) ?? []
    return wildcard ? hostname.endsWith(`.${host}`) : hostname === host
  })
}

function judgeCodes(codes: string[]): TokenOutcome {
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

/** @returns the verifier's answer, or why there is none */
async function verifyWithRetry(
  keys: TurnstileKeys,
  asked: CaptchaTokenInput,
  signal: AbortSignal,
): Promise<SiteverifyReply | string> {
  // Under the same key the second question is the first one again: the token is not taken for used.
  const body = new URLSearchParams({
    secret: keys.secretKey,
    response: asked.token,
    remoteip: asked.address,
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
    // The address is the operator's own setting. Not redirected: the secret is for this address alone.
    const response = await fetch(url, { method: 'POST', body, signal, redirect: 'manual' })
    const text = await response.text()
    return response.status >= 500 ? `status ${response.status}` : (readReply(text) ?? 'unreadable')
  } catch (error) {
    // Its name and code only: a message may repeat the address with what an operator put into it.
    const { name, code } = error as Error & { code?: unknown }
    return typeof code === 'string' ? code : name
  }
}

function readReply(text: string): SiteverifyReply | undefined {
  try {
    const value: unknown = JSON.parse(text)
    const known = typeof value === 'object' && value !== null && 'success' in value
    return known && typeof value.success === 'boolean' ? (value as SiteverifyReply) : undefined
  } catch {
    // A page of some proxy between us and the verifier.
    return undefined
  }
}
