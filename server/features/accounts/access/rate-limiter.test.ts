import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { atScale } from '../../../../tests/support/suite.ts'
import {
  onBothEngines,
  startServer,
  type TestServer,
  type TestWorkspace,
} from '../../../../tests/support/world.ts'
import type { Plan } from '../../../lib/plan.ts'
import { changePlan } from '../workspaces/change-plan.ts'
import { createKey } from './keys.ts'

const LIMITS: [Plan, number][] = [
  ['pro', 30],
  ['business', 60],
  ['scale', 120],
  ['enterprise', 300],
]
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

  test.each(LIMITS)('%s: %d requests', async (plan, limit) => {
    const workspace = await server.createWorkspace(plan)
    const { headers } = await workspace.api('/tags')
    expect(limitsOf({ headers })).toMatchObject({ limit: `${limit}`, remaining: `${limit - 1}` })
  })

  test.each(atScale({ quick: LIMITS.slice(0, 1), full: LIMITS, soak: LIMITS }))(
    '%s: exactly %d in any 60 seconds',
    async (plan, limit) => {
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
    },
  )

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
  const needs = () => ({ db: server().app.db, now: server().now })

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
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(30)
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
    expect(answers.map((answer) => Number(limitsOf(answer).remaining))).toEqual([
      29, 28, 27, 26, 25, 24, 23, 22,
    ])
    const now = server().now() / 1000
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
      expect(Math.abs(limitsOf(answer).reset - server().now() / 1000)).toBeLessThan(30)
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
