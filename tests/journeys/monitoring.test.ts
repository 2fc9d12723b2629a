// Monitoring files fit this release: Prometheus reads the metrics and the alert rules, and every metric that a rule,
// the Grafana dashboard or docs/observability.md names is there.

import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../support/architecture/read-checkout.ts'
import { findPromtool, runPromtool } from '../support/processes/promtool.ts'
import { fetchMetrics, sumSamples } from '../support/read-metrics.ts'
import { full } from '../support/suite.ts'
import { until } from '../support/until.ts'
import { onSqlite } from '../support/world.ts'

const DEPLOY = join(ROOT, 'deploy')
const ALERTS = join(DEPLOY, 'prometheus/alerts.yaml')
const PAGE = join(ROOT, 'docs/observability.md')
const INSTALL_MS = 300_000

const readText = (path: string) => readFileSync(path, 'utf8')

interface Rule {
  alert: string
  expr: string
  labels: Record<string, string>
  annotations: Record<string, string>
}
const rules = (Bun.YAML.parse(readText(ALERTS)) as { groups: { rules: Rule[] }[] }).groups.flatMap(
  (group) => group.rules,
)

interface Panel {
  type: string
  title: string
  description?: string
  targets?: { expr: string }[]
}
const dashboard = JSON.parse(readText(join(DEPLOY, 'grafana/towpath.json'))) as { panels: Panel[] }

/** Those that only some servers have: with WORKERS, DESTINATION_BLOCKLIST or BACKUP_DIR, after a first look or checkpoint. */
const ONLY_SOMETIMES = [
  'towpath_backup_overdue',
  'towpath_backup_last_success_timestamp_seconds',
  'towpath_worker_up',
  'towpath_blocklist_hosts',
  'towpath_blocklist_reload_failed',
  'towpath_roll_ups_waiting',
  'towpath_database_bytes',
  'towpath_database_free_bytes',
  'towpath_wal_bytes',
]

const listNames = (text: string) => new Set(text.match(/\b(?:towpath|process)_[a-z_]+[a-z]\b/g))

onSqlite('a server', (server) => {
  async function readMetrics(): Promise<string> {
    const { slug } = await (await server().createWorkspace()).createLink()
    await server().click(slug)
    await server().call('/no-such-link')
    // The lag of the spool is unknown until the hit worker has reported.
    return until('the first report of the hit worker', async () => {
      const { text } = await server().call('/metrics')
      return text.includes('towpath_spool_lag_bytes') ? text : undefined
    })
  }
  /** The names of all samples, those of histograms with their suffix. */
  const listSamples = (text: string) => new Set(text.match(/^[a-z_]+(?=[{ ])/gm))
  const listFamilies = (text: string) => new Set(text.match(/(?<=^# TYPE )[a-z_]+/gm))

  test.each([
    ['the alert rules', () => rules.map(({ expr }) => expr).join('\n')],
    [
      'the dashboard',
      () => dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)).join('\n'),
    ],
  ])('has every metric that %s name', async (_, readNames) => {
    const named = listNames(readNames())
    const there = listSamples(await readMetrics())
    expect(named.size).toBeGreaterThan(15)
    const missing = [...named].filter((name) => !there.has(name) && !ONLY_SOMETIMES.includes(name))
    expect(missing).toEqual([])
  })

  test('has the metrics of the page and no others', async () => {
    const there = listFamilies(await readMetrics())
    const table = readText(PAGE)
      .split('\n')
      .filter((line) => line.startsWith('| `'))
    const named = new Set(table.flatMap((line) => [...listNames(line.split(' | ')[0] ?? '')]))
    expect([...there].filter((name) => !named.has(name))).toEqual([])
    const missing = [...named].filter((name) => !there.has(name) && !ONLY_SOMETIMES.includes(name))
    expect(missing).toEqual([])
  })

  test('counts each redirect once, on the fast path and beside it', async () => {
    const countRedirects = async () =>
      sumSamples(await fetchMetrics(server().origin), 'towpath_http_requests_total', {
        route: '/{slug}',
        method: 'GET',
        status: '3xx',
      })
    const { slug } = await (await server().createWorkspace()).createLink()
    const before = await countRedirects()
    // The first one may have to read the link, and is not on the fast path then.
    for (let n = 0; n < 5; n++) expect((await server().click(slug)).status).toBe(302)
    expect(await countRedirects()).toBe(before + 5)
  })

  test('has no path and no method of a stranger as a label', async () => {
    for (const method of ['GET', 'PROPFIND']) await server().call('/v1/cAnArY/cAnArY', { method })
    await server().call('/cAnArY/cAnArY')
    const after = (await server().call('/metrics')).text
    expect(after).not.toContain('cAnArY')
    expect(after).not.toContain('PROPFIND')
    expect(after).not.toMatch(/(?:workspace|tenant|user|form|link)(?:_?id)?="/i)
  })

  full(
    'has metrics that promtool finds no fault with',
    async () => {
      const promtool = findPromtool()
      if (promtool) expect(runPromtool(promtool, ['check', 'metrics'], await readMetrics())).toBe('')
    },
    INSTALL_MS,
  )
})

describe('the alert rules', () => {
  full(
    'are rules, and say what they should in cases that matter',
    () => {
      const promtool = findPromtool()
      if (!promtool) return
      expect(runPromtool(promtool, ['check', 'rules', ALERTS])).toBe('')
      expect(runPromtool(promtool, ['test', 'rules', join(DEPLOY, 'prometheus/alerts.test.yaml')])).toBe('')
    },
    INSTALL_MS,
  )

  test('say how urgent they are, and what to do', () => {
    for (const { alert, labels, annotations } of rules) {
      expect([alert, labels.severity]).toEqual([alert, expect.stringMatching(/^(page|ticket)$/)])
      expect([alert, annotations.summary, annotations.runbook]).toEqual([
        alert,
        expect.stringMatching(/\S/),
        expect.stringMatching(/\.$/),
      ])
    }
  })
})

test('every chart of the dashboard says what it shows', () => {
  const charts = dashboard.panels.filter(({ type }) => type !== 'row')
  expect(charts.filter(({ description }) => !description?.endsWith('.'))).toEqual([])
})
