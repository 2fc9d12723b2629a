// The load of the soak: clicks, submissions and page views at a steady pace, and a question of the dashboard each second.
// It keeps what was acknowledged, to compare it with what is stored.

import { nextSenderAddress, SCRIPT_HEADERS, URLENCODED_TYPE } from '../tests/support/form-requests.ts'
import { USER_AGENT } from './load.ts'

/** Clicks and page views carry one of these terms: an answer of analytics has at most 1,000 rows. */
export const TERMS = 900
const LINKS = 1000
const TICK_MS = 10
/** Requests of a kind wait above this number, so that a server that stalls is not flooded. */
const IN_FLIGHT_MAX = 200

const QUESTIONS = [
  '/analytics/clicks?groupBy=time&interval=24h',
  '/analytics/clicks?groupBy=country',
  '/analytics/leads',
  '/analytics/funnel',
  '/links?limit=50',
  '/forms',
  '/deliveries?limit=50',
]

export const count = (counts: Map<string, number>, key: string) => counts.set(key, (counts.get(key) ?? 0) + 1)

interface Target {
  origin: string
  key: string
  formKey: string
  workspace: string
}

export type SoakLoad = ReturnType<typeof startSoakLoad>

/** @param pace of each kind of request, a second */
export function startSoakLoad(
  { origin, key, formKey, workspace }: Target,
  pace: { clicks: number; submissions: number; views: number },
) {
  const acknowledged = {
    /** By term. */
    clicks: new Map<string, number>(),
    pageViews: new Map<string, number>(),
    /** The numbers of the submissions. */
    submissions: new Set<string>(),
    /** Requests without an acknowledging answer, by kind and status; 0 where the connection ended. */
    failures: new Map<string, number>(),
  }
  const questions = { longestMs: 0 }
  const running = new Set<Promise<void>>()

  async function send(kind: string, path: string, init: RequestInit, wanted: number, onAnswer: () => void) {
    const headers = { 'User-Agent': USER_AGENT, 'X-Forwarded-For': nextSenderAddress(), ...init.headers }
    const status = await fetch(origin + path, { redirect: 'manual', ...init, headers })
      .then(async (response) => {
        await response.arrayBuffer()
        return response.status
      })
      .catch(() => 0)
    if (status === wanted) onAnswer()
    else count(acknowledged.failures, `${kind} ${status}`)
  }

  const click = (n: number) => {
    const term = `t${n % TERMS}`
    const path = `/bench${1 + (n % LINKS)}?utm_term=${term}`
    return send('click', path, {}, 302, () => count(acknowledged.clicks, term))
  }
  const submit = (n: number) => {
    const body = `number=${n}&message=${'A sentence of text. '.repeat(20)}`
    const init = { method: 'POST', body, headers: { ...SCRIPT_HEADERS, 'Content-Type': URLENCODED_TYPE } }
    return send('submission', `/f/${formKey}`, init, 200, () => acknowledged.submissions.add(String(n)))
  }
  const view = (n: number) => {
    const term = `t${n % TERMS}`
    const body = JSON.stringify({ w: workspace, u: `https://shop.example/page?utm_term=${term}`, r: '' })
    const init = { method: 'POST', body, headers: { 'Content-Type': 'text/plain;charset=UTF-8' } }
    return send('page view', '/e', init, 200, () => count(acknowledged.pageViews, term))
  }
  const ask = async (n: number) => {
    const startedAt = performance.now()
    const init = { headers: { Authorization: `Bearer ${key}` } }
    await send('question', `/v1${QUESTIONS[n % QUESTIONS.length]}`, init, 200, () => {})
    questions.longestMs = Math.max(questions.longestMs, performance.now() - startedAt)
  }

  const timers = [
    startPaced(click, pace.clicks, running),
    startPaced(submit, pace.submissions, running),
    startPaced(view, pace.views, running),
    startPaced(ask, 1, running),
  ]
  return {
    acknowledged,
    questions,
    async stop() {
      for (const timer of timers) clearInterval(timer)
      await Promise.all(running)
    },
  }
}

function startPaced(request: (n: number) => Promise<void>, perSecond: number, running: Set<Promise<void>>) {
  let [n, inFlight, startedAt] = [0, 0, performance.now()]
  return setInterval(() => {
    const due = ((performance.now() - startedAt) / 1000) * perSecond
    for (; n < due && inFlight < IN_FLIGHT_MAX; n++) {
      inFlight++
      const one = request(n).finally(() => {
        inFlight--
        running.delete(one)
      })
      running.add(one)
    }
    // Requests that could not be sent in time are dropped, not sent later in a burst.
    if (n < due) startedAt += ((due - n) / perSecond) * 1000
  }, TICK_MS)
}
