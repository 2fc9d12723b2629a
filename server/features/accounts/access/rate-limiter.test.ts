import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  onBothEngines,
  startServer,
  type TestServer,
  type TestWorkspace,
} from '../../../../tests/support/world.ts'
import type { Plan } from '../../../lib/plan.ts'
import { openDatabase } from '../../../storage/database/open-database.ts'
import { changePlan } from '../workspaces/change-plan.ts'
import { createKey } from './keys.ts'
import { createRateLimiter, pruneRateWindows } from './rate-limiter.ts'

const LIMITS: [Plan, number][] = [
  ['pro', 30],
  ['business', 60],
  ['scale', 120],
  ['enterprise', 300],
]
/** Older than all that a test puts into a window. */
const AGE_MAX = 86_400_000
const START = Date.parse('2026-05-01T12:00:00Z')

const limitsOf = ({ headers }: { headers: Headers }) => ({
  limit: headers.get('x-ratelimit-limit'),
  remaining: headers.get('x-ratelimit-remaining'),
  reset: Number(headers.get('x-ratelimit-reset')),
})

async function burst(workspace: TestWorkspace, times: number) {
  const answers = await Promise.all(Array.from({ length: times }, () => workspace.api('/tags')))
  return answers.map(({ status }) => status)
}
const count = (statuses: number[], status: number) => statuses.filter((one) => one === status).length

describe('the limit of a plan, with a clock that the test moves', () => {
  let server: TestServer
  let now = START
  let clock = 0
  const pass = (ms: number) => {
    now += ms
    clock += ms
  }
  beforeAll(async () => {
    server = await startServer('sqlite', { now: () => now, clock: () => clock })
  })
  afterAll(() => server.close())

  test.each(LIMITS)('%s: exactly %d in any 60 seconds', async (plan, limit) => {
    const workspace = await server.createWorkspace(plan)
    const half = limit / 2
    expect(count(await burst(workspace, half), 200)).toBe(half)
    pass(30_000)
    expect(count(await burst(workspace, limit), 200)).toBe(half)
    pass(29_999)
    expect(count(await burst(workspace, 10), 200)).toBe(0)
    // The first half leaves the window after exactly 60 s, the second half stays.
    pass(1)
    expect(count(await burst(workspace, limit), 200)).toBe(half)
    pass(29_999)
    expect(count(await burst(workspace, 10), 200)).toBe(0)
    pass(1)
    expect(count(await burst(workspace, limit), 200)).toBe(half)
    pass(60_000)
    expect(count(await burst(workspace, limit + 20), 200)).toBe(limit)
  })

  test('answers 429 with Retry-After in whole seconds, after which a request is accepted', async () => {
    const workspace = await server.createWorkspace('pro')
    await burst(workspace, 30)
    for (const [passed, seconds] of [
      [0, 60],
      [1, 60],
      [58_999, 1],
      [999, 1],
    ] as const) {
      pass(passed)
      const { status, text, headers } = await workspace.api('/tags')
      expect(status).toBe(429)
      expect(text).toBe(`{"error":"Rate limit exceeded. Try again in ${seconds} seconds."}`)
      expect(headers.get('retry-after')).toBe(String(seconds))
    }
    pass(1_000)
    expect((await workspace.api('/tags')).status).toBe(200)
  })

  test('counts down in the headers, and resets when the oldest request leaves the window', async () => {
    const workspace = await server.createWorkspace('business')
    const reset = Math.ceil((now + 60_000) / 1000)
    for (let left = 59; left >= 57; left--) {
      expect(limitsOf(await workspace.api('/tags'))).toEqual({ limit: '60', remaining: String(left), reset })
      pass(1_000)
    }
    pass(57_000)
    expect(limitsOf(await workspace.api('/tags'))).toEqual({ limit: '60', remaining: '57', reset: reset + 1 })
  })

  test('does not depend on the wall clock', async () => {
    const workspace = await server.createWorkspace('pro')
    await burst(workspace, 30)
    now += 7_200_000
    expect((await workspace.api('/tags')).status).toBe(429)
    now -= 14_400_000
    expect((await workspace.api('/tags')).headers.get('retry-after')).toBe('60')
    now = START
    clock += 60_000
    expect((await workspace.api('/tags')).status).toBe(200)
  })
})

onBothEngines('requests per minute', (server) => {
  const needs = () => ({ db: server().app.db, now: Date.now })

  test('lets exactly the number of the plan through in a burst', async () => {
    const statuses = await burst(await server().createWorkspace('business'), 90)
    expect([count(statuses, 200), count(statuses, 429)]).toEqual([60, 30])
  })

  test('shares the limit between keys of a workspace, and not with another workspace', async () => {
    const one = await server().createWorkspace('pro')
    const other = await server().createWorkspace('pro')
    const second = await createKey(needs(), one.id, 'second')
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        server().call('/v1/tags', { headers: { Authorization: `Bearer ${i % 2 ? one.key : second.key}` } }),
      ),
    )
    expect(
      count(
        answers.map(({ status }) => status),
        200,
      ),
    ).toBe(30)
    expect(limitsOf(await other.api('/tags')).remaining).toBe('29')
  })

  test('counts answers 404, 405, 409, 415 and 422, but not 401 and 429', async () => {
    const workspace = await server().createWorkspace('pro')
    const { api, key } = workspace
    for (let i = 0; i < 5; i++) {
      await server().call('/v1/tags', { headers: { Authorization: `Bearer ${key}x` } })
      await server().call('/v1/tags')
    }
    const answers = [
      await api('/tags', { method: 'POST', body: { name: 'a' } }),
      await api('/links/7'),
      await api('/nothing'),
      await api('/tags', { method: 'PUT', body: {} }),
      await api('/tags', { method: 'POST', body: { name: 'A' } }),
      await api('/tags', { method: 'POST', body: 'x', headers: { 'Content-Type': 'text/plain' } }),
      await api('/tags', { method: 'POST', body: '{' }),
      await api('/tags?limit=0'),
    ]
    expect(answers.map(({ status }) => status)).toEqual([201, 404, 404, 405, 409, 415, 400, 422])
    expect(answers.map((answer) => limitsOf(answer).remaining)).toEqual([
      '29',
      '28',
      '27',
      '26',
      '25',
      '24',
      '23',
      '22',
    ])
    const now = Date.now() / 1000
    for (const answer of answers) {
      const { limit, reset } = limitsOf(answer)
      expect(limit).toBe('30')
      expect(Number.isInteger(reset)).toBe(true)
      expect(reset).toBeGreaterThan(now + 40)
      expect(reset).toBeLessThanOrEqual(Math.ceil(now + 61))
    }
    expect(count(await burst(workspace, 40), 200)).toBe(22)
    const refused = await api('/tags')
    expect(limitsOf(refused)).toMatchObject({ limit: '30', remaining: '0' })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(40)
  })

  test('refuses keys on the Free plan, with limit headers', async () => {
    const { api } = await server().createWorkspace('free')
    for (const answer of [
      await api('/links'),
      await api('/links', {
        method: 'POST',
        body: { destinationUrl: 'https://example.com/', slug: 'free-1' },
      }),
      await api('/nothing'),
    ]) {
      expect(answer.status).toBe(403)
      expect(answer.text).toBe('{"error":"API access requires a Pro plan or higher"}')
      expect(limitsOf(answer)).toMatchObject({ limit: '0', remaining: '0' })
      expect(Math.abs(limitsOf(answer).reset - Date.now() / 1000)).toBeLessThan(30)
      expect(answer.headers.get('retry-after')).toBeNull()
    }
    expect((await server().click('free-1')).status).toBe(404)
  })

  test('applies a change of plan to the next request', async () => {
    const workspace = await server().createWorkspace('pro')
    expect(count(await burst(workspace, 40), 200)).toBe(30)
    await changePlan(needs(), workspace.id, 'business')
    expect(limitsOf(await workspace.api('/tags'))).toMatchObject({ limit: '60', remaining: '29' })
    expect(count(await burst(workspace, 60), 200)).toBe(29)
    await changePlan(needs(), workspace.id, 'pro')
    expect(limitsOf(await workspace.api('/tags'))).toMatchObject({ limit: '30', remaining: '0' })
    await changePlan(needs(), workspace.id, 'free')
    expect((await workspace.api('/tags')).status).toBe(403)
    await expect(changePlan(needs(), 999_999, 'pro')).rejects.toThrow('Workspace not found')
  })
})

describe('processes that share a PostgreSQL', () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer('postgres')
  }, 120_000)
  afterAll(() => server.close())

  test('share exactly N under 200 concurrent requests', async () => {
    const second = await openDatabase({ dataDir: server.dataDir, databaseUrl: server.databaseUrl })
    try {
      const limiters = [createRateLimiter(server.app.db), createRateLimiter(second)]
      for (const limit of [30, 120]) {
        const taken = await Promise.all(
          Array.from({ length: 200 }, (_, i) => limiters[i % 2]?.take(`shared:${limit}`, limit)),
        )
        expect(taken.filter((one) => one?.allowed)).toHaveLength(limit)
        const left = taken.filter((one) => one?.allowed).map((one) => one?.remaining ?? -1)
        // Each number once: no two requests got the same count.
        expect(left.sort((a, b) => a - b)).toEqual(Array.from({ length: limit }, (_, i) => i))
        for (const one of taken.filter((each) => !each?.allowed)) {
          expect(one?.waitMs).toBeGreaterThan(30_000)
          expect(one?.waitMs).toBeLessThanOrEqual(60_000)
        }
      }
    } finally {
      await second.close()
    }
  })

  const setWindow = (key: string, agesMs: number[]) =>
    server.app.db.write((connection) =>
      connection
        .insertInto('rate_limits')
        .values({
          key,
          since: Date.now() - AGE_MAX,
          hits: agesMs.map((age) => AGE_MAX - age),
          allowed: 1,
          expires_at: 0,
        })
        .execute(),
    )
  /** The expected wait, less the time since `since`, with a second of tolerance for rounding. */
  const expectWait = (ms: number, atFirst: number, since: number) =>
    expect(ms).toBeWithin(atFirst - (Date.now() - since) - 1_000, atFirst + 1_000)
  const take = (key: string, limit: number) => createRateLimiter(server.app.db).take(key, limit)

  test('drop requests older than a minute', async () => {
    const since = Date.now()
    await setWindow('old', [61_000, 60_001, 50_000, 10_000])
    expect(await take('old', 3)).toMatchObject({ allowed: true, remaining: 0 })
    const refused = await take('old', 3)
    expect(refused.allowed).toBe(false)
    expectWait(refused.waitMs, 10_000, since)
    expect(refused.resetMs).toBe(refused.waitMs)
  })

  test('wait after a lowered limit until enough requests have left the window', async () => {
    const since = Date.now()
    await setWindow('lower', [50_000, 40_000, 30_000, 20_000])
    const { allowed, remaining, waitMs, resetMs } = await take('lower', 2)
    expect([allowed, remaining]).toEqual([false, 0])
    expectWait(waitMs, 30_000, since)
    expectWait(resetMs, 10_000, since)
  })

  test('lock nobody out after the database’s clock was set back', async () => {
    await setWindow('future', Array(30).fill(-7_200_000))
    expect(await take('future', 30)).toMatchObject({ allowed: true, remaining: 29 })
  })

  test('store no client address in plain text', async () => {
    const address = '203.0.113.77'
    await createRateLimiter(server.app.db, { secret: 'a secret' }).take(`form:1:${address}`, 5)
    const kept = await server.app.db.read.selectFrom('rate_limits').select('key').execute()
    expect(JSON.stringify(kept)).not.toContain(address)
  })

  test('prune windows that were not used for a minute, and keep the others', async () => {
    await setWindow('forgotten', [90_000])
    await take('fresh', 5)
    await pruneRateWindows(server.app.db, Date.now())
    const left = await server.app.db.read.selectFrom('rate_limits').select('key').execute()
    expect(left.map(({ key }) => key)).toContain('fresh')
    expect(left.map(({ key }) => key)).not.toContain('forgotten')
  })
})
