// A verifier that behaves as Cloudflare documents its siteverify: tokens of one use that live five minutes, its error
// codes, a second question under the same idempotency key. And, on demand, one that does not behave.

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
  /** The bodies of all questions so far. */
  requests: Record<string, string>[]
  /** What a widget would have put into the page. */
  createToken(widget?: TurnstileWidget): string
  /** The next answers, in place of the documented ones. */
  answerWith(...answers: (() => Response | Promise<Response>)[]): void
  close(): Promise<void>
}

export function startSiteverify(secret: string, now: () => number = Date.now): SiteverifyServer {
  const made = new Map<string, { widget: TurnstileWidget; at: number; usedBy?: string }>()
  const asked: Record<string, string>[] = []
  const instead: (() => Response | Promise<Response>)[] = []

  function judge({ secret: given, response, idempotency_key: key }: Record<string, string>) {
    const no = (code: string) => ({ success: false, 'error-codes': [code], messages: [] })
    if (!given) return no('missing-input-secret')
    if (given !== secret) return no('invalid-input-secret')
    if (!response) return no('missing-input-response')
    const token = made.get(response)
    if (!token || response.length > TOKEN_MAX) return no('invalid-input-response')
    const again = token.usedBy !== undefined && token.usedBy !== key
    if (again || now() - token.at > VALID_MS) return no('timeout-or-duplicate')
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
      asked.push(body)
      return instead.shift()?.() ?? Response.json(judge(body))
    },
  })

  return {
    url: `http://127.0.0.1:${server.port}/turnstile/v0/siteverify`,
    requests: asked,
    createToken(widget = {}) {
      const text = `0.${randomBytes(300).toString('base64url')}`
      made.set(text, { widget: { hostname: 'shop.example', action: '', cdata: '', ...widget }, at: now() })
      return text
    },
    answerWith(...answers) {
      instead.push(...answers)
    },
    close: () => server.stop(true),
  }
}
