// A stand-in for Cloudflare's siteverify (https://developers.cloudflare.com/turnstile): a token is valid once and for
// five minutes, and the same idempotency key may ask again. Tests can set other answers.

import { randomBytes } from 'node:crypto'

const VALID_MS = 300_000
const TOKEN_MAX = 2048

export interface TurnstileWidget {
  hostname?: string
  action?: string
  cdata?: string
}

export interface SiteverifyServer {
  url: string
  /** The bodies of all requests so far. */
  requests: Record<string, string>[]
  /** Creates a token as the widget puts it into the page. */
  createToken(widget?: TurnstileWidget): string
  /** Replaces the documented answers to the next requests, one each. */
  answerWith(...answers: (() => Response | Promise<Response>)[]): void
  close(): Promise<void>
}

export function startSiteverify(secret: string, now: () => number = Date.now): SiteverifyServer {
  const tokens = new Map<string, { widget: TurnstileWidget; at: number; usedBy?: string }>()
  const requests: Record<string, string>[] = []
  const replacements: (() => Response | Promise<Response>)[] = []

  function verify({ secret: given, response, idempotency_key: key }: Record<string, string>) {
    const refuse = (code: string) => ({ success: false, 'error-codes': [code], messages: [] })
    if (!given) return refuse('missing-input-secret')
    if (given !== secret) return refuse('invalid-input-secret')
    if (!response) return refuse('missing-input-response')
    const token = tokens.get(response)
    if (!token || response.length > TOKEN_MAX) return refuse('invalid-input-response')
    const isUsedAgain = token.usedBy !== undefined && token.usedBy !== key
    if (isUsedAgain || now() - token.at > VALID_MS) return refuse('timeout-or-duplicate')
    token.usedBy = key ?? ''
    const challenge_ts = new Date(token.at).toISOString()
    return {
      success: true,
      'error-codes': [],
      challenge_ts,
      ...token.widget,
      metadata: { interactive: false },
    }
  }

  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const text = await request.text()
      const isJson = request.headers.get('content-type')?.startsWith('application/json')
      const body = isJson ? JSON.parse(text) : Object.fromEntries(new URLSearchParams(text))
      requests.push(body)
      return replacements.shift()?.() ?? Response.json(verify(body))
    },
  })

  return {
    url: `http://127.0.0.1:${server.port}/turnstile/v0/siteverify`,
    requests,
    createToken(widget = {}) {
      const text = `0.${randomBytes(300).toString('base64url')}`
      tokens.set(text, { widget: { hostname: 'shop.example', action: '', cdata: '', ...widget }, at: now() })
      return text
    },
    answerWith(...answers) {
      replacements.push(...answers)
    },
    close: () => server.stop(true),
  }
}
