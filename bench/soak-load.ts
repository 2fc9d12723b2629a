// The load of the soak: clicks, submissions and page views at a steady pace, and a question of the dashboard each second.
// It keeps what was acknowledged, to compare it with what is stored.

import { nextSenderAddress, SCRIPT_HEADERS, URLENCODED_TYPE } from '../tests/support/form-requests.ts'
import { USER_AGENT } from './load.ts'

export interface Pace {
  clicks: number
  submissions: number
  pageViews: number
}

/** Clicks and page views carry one of so many terms: an answer of analytics has at most 1,000 rows. */
export const TERMS = 900

export interface Acknowledgements {
  /** By term. */
  clicks: Map<string, number>
  pageViews: Map<string, number>
  /** The numbers of the submissions. */
  submissions: Set<string>
  /** Requests without an acknowledging answer, by kind and status; 0 where the connection ended. */
  failures: Map<string, number>
}

export interface SoakLoad {
  acknowledged: Acknowledgements
  questions: { asked: number; longestMs: number }
  stop(): Promise<void>
}

interface Target {
  origin: string
  key: string
  slug: string
  formKey: string
  workspace: string
}

const TICK_MS = 10
/** Above it a kind of request waits: a server that stalls must not be buried. */
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

export function startSoakLoad(target: Target, pace: Pace): SoakLoad {
  const acknowledged: Acknowledgements = {
    clicks: new Map(),
    pageViews: new Map(),
    submissions: new Set(),
    failures: new Map(),
  }
  const questions = { asked: 0, longestMs: 0 }
  const running = new Set<Promise<void>>()
  const { origin, key } = target

  async function send(kind: string, path: string, init: RequestInit, onAnswer: (status: number) => boolean) {
    const headers = { 'User-Agent': USER_AGENT, 'X-Forwarded-For': nextSenderAddress(), ...init.headers }
    const status = await fetch(origin + path, { redirect: 'manual', ...init, headers })
      .then(async (response) => {
        await response.arrayBuffer()
        return response.status
      })
      .catch(() => 0)
    if (!onAnswer(status)) count(acknowledged.failures, `${kind} ${status}`)
  }

  const click = (n: number) => {
    const term = `t${n % TERMS}`
    return send('click', `/${target.slug}?utm_term=${term}`, {}, (status) => {
      if (status === 302) count(acknowledged.clicks, term)
      return status === 302
    })
  }
  const submit = (n: number) =>
    send(
      'submission',
      `/f/${target.formKey}`,
      {
        method: 'POST',
        body: `number=${n}&message=${'So many words. '.repeat(20)}`,
        headers: { ...SCRIPT_HEADERS, 'Content-Type': URLENCODED_TYPE },
      },
      (status) => {
        if (status === 200) acknowledged.submissions.add(String(n))
        return status === 200
      },
    )
  const view = (n: number) => {
    const term = `t${n % TERMS}`
    const u = `https://shop.example/page?utm_term=${term}`
    return send(
      'page view',
      '/e',
      {
        method: 'POST',
        body: JSON.stringify({ w: target.workspace, u, r: '' }),
        headers: { 'Content-Type': 'text/plain;charset=UTF-8' },
      },
      (status) => {
        if (status === 200) count(acknowledged.pageViews, term)
        return status === 200
      },
    )
  }
  const ask = async (n: number) => {
    const startedAt = performance.now()
    const headers = { Authorization: `Bearer ${key}` }
    await send('question', `/v1${QUESTIONS[n % QUESTIONS.length]}`, { headers }, (status) => status === 200)
    questions.asked++
    questions.longestMs = Math.max(questions.longestMs, performance.now() - startedAt)
  }

  const timers = (
    [
      [click, pace.clicks],
      [submit, pace.submissions],
      [view, pace.pageViews],
      [ask, 1],
    ] as const
  ).map(([request, perSecond]) => startPaced(request, perSecond, running))
  return {
    acknowledged,
    questions,
    async stop() {
      for (const timer of timers) clearInterval(timer)
      await Promise.all(running)
    },
  }
}

function startPaced(
  request: (n: number) => Promise<void>,
  perSecond: number,
  running: Set<Promise<void>>,
): Timer {
  let [n, inFlight] = [0, 0]
  let startedAt = performance.now()
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
    // What could not be sent in time is not sent later in one burst.
    if (n < due) startedAt += ((due - n) / perSecond) * 1000
  }, TICK_MS)
}
