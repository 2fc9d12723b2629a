// One workspace that floods the analytics with questions does not hold up the others: the worker answers three at a
// time, workspaces take turns, and each has a bounded number of questions waiting.

import { expect, test } from 'bun:test'
import { PENDING_PER_WORKSPACE } from '../../server/features/hits/worker/question-gate.ts'
import { fetchMetrics, readMetric, sumSamples } from '../support/read-metrics.ts'
import { full } from '../support/suite.ts'
import { onSqlite, type TestWorkspace } from '../support/world.ts'

const FLOOD = 150

/** @param number makes the question different from all others */
const ask = ({ api }: TestWorkspace, number: number, explain = '') =>
  api(
    `/analytics/clicks?groupBy=country&start=${new Date(Date.UTC(2026, 0, 1) + number).toISOString()}&end=2026-02-01${explain}`,
  )

onSqlite('a workspace that floods the analytics', (server) => {
  full('is told to wait, while another one gets all its answers', async () => {
    const [flooder, other] = [await server().createWorkspace(), await server().createWorkspace()]
    expect((await ask(flooder, 0)).status).toBe(200)
    // Answers that are explained count as well.
    const flood = Array.from({ length: FLOOD }, (_, i) => ask(flooder, i, i % 2 === 0 ? '' : '&explain=1'))
    const own = Array.from({ length: 10 }, (_, i) => ask(other, i))
    for (const { status } of await Promise.all(own)) expect(status).toBe(200)
    const answers = await Promise.all(flood)
    const refused = answers.filter(({ status }) => status !== 200)
    expect(refused.length).toBeGreaterThan(0)
    expect(answers.length - refused.length).toBeGreaterThanOrEqual(PENDING_PER_WORKSPACE)
    for (const { status, headers, json } of refused) {
      expect([status, headers.get('retry-after')]).toEqual([429, '2'])
      expect(json.error).toBe('Too many questions of this workspace at once. Try again in 2 seconds.')
    }
    const metrics = await fetchMetrics(server().origin)
    expect(sumSamples(metrics, 'towpath_questions_refused_total')).toBe(refused.length)
    expect(sumSamples(metrics, 'towpath_questions_pending')).toBe(0)
    expect((await ask(flooder, 0)).status).toBe(200)
  })

  test('the same question asked many times at one moment is answered once for all', async () => {
    const workspace = await server().createWorkspace()
    await server().waitUntilShipped()
    const answers = await Promise.all(Array.from({ length: 60 }, () => ask(workspace, 7)))
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
    expect(await readMetric(server().origin, 'towpath_questions_shared_total')).toBeGreaterThan(10)
  })
})
