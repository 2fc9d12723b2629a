// Measures the Links page of a workspace with many links in Chromium: bun bench/dashboard.ts [--links=100000]. It measures
// the time until the page is usable, and the cost of typing a search; for docs/benchmarks.md.

import { parseArgs } from 'node:util'
import type { Page } from 'playwright-core'
import { setLogLevel } from '../server/lib/log.ts'
import { openChromium } from '../tests/support/browser/chromium.ts'
import { signUpOverHttp } from '../tests/support/users/sign-up.ts'
import { startServer } from '../tests/support/world.ts'
import { median } from './median.ts'
import { formatVerdict } from './verdict.ts'

const ROUNDS = 7
const AT_ONCE = 500
const READY_MS = 1000
const LONG_TASK_MS = 100

const { values: options } = parseArgs({ options: { links: { type: 'string', default: '100000' } } })
const count = Number(options.links)

setLogLevel('silent')
const server = await startServer('sqlite')
const person = await signUpOverHttp(server, { name: 'Ada' })
await createLinks(person.workspaceId)
const browser = await openChromium()

// Long tasks keep the page from reacting. The browser reports tasks of 50 ms and more.
const WATCH = `
  window.longTasks = []
  new PerformanceObserver((list) => window.longTasks.push(...list.getEntries().map((entry) => entry.duration)))
    .observe({ type: 'longtask', buffered: true })`

async function createLinks(workspaceId: number) {
  for (let from = 0; from < count; from += AT_ONCE) {
    const values = Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, n) => {
      const slug = `link-${from + n}`
      const title = `Campaign ${(from + n) % 977} number ${from + n}`
      const destination = `https://example.com/landing/${from + n}?utm_source=newsletter`
      return {
        workspace_id: workspaceId,
        domain: '',
        slug,
        slug_key: slug,
        destination_url: destination,
        title,
        search_text: `${slug}\n${destination}\n${title}`.toLowerCase(),
        archived: 0,
        clicks_used: 0,
        forward_query: 0,
        track_conversions: 0,
        geo_targeting: '{}',
        device_targeting: '{}',
        redirect_status: 302,
        clicks: (from + n) % 1000,
        leads: 0,
        created_at: 1_700_000_000_000 + from + n,
        updated_at: 1_700_000_000_000 + from + n,
      }
    })
    await server.app.db.write((connection) => connection.insertInto('links').values(values).execute())
  }
}

/** @returns milliseconds from the start of loading until the list shows its first link */
async function measureUntilUsable(page: Page): Promise<number> {
  await page.goto(`${server.origin}/app/${person.workspaceId}/links`)
  await page
    .getByText(`link-${count - 1}`, { exact: false })
    .first()
    .waitFor()
  return page.evaluate<number>('performance.now()')
}

const first: number[] = []
const again: number[] = []
const longest: number[] = []
const answers: number[] = []
for (let round = 0; round < ROUNDS; round++) {
  const context = await browser.newContext()
  const at = person.cookie.indexOf('=')
  await context.addCookies([
    { name: person.cookie.slice(0, at), value: person.cookie.slice(at + 1), url: server.origin },
  ])
  await context.addInitScript(WATCH)
  const page = await context.newPage()
  first.push(await measureUntilUsable(page))
  again.push(await measureUntilUsable(page))
  await page.evaluate('window.longTasks.length = 0')
  const search = page.getByRole('searchbox').first()
  const wanted = `link-${90_000 + round}`
  await search.pressSequentially(wanted, { delay: 60 })
  const typed = performance.now()
  await page.getByText(wanted, { exact: false }).first().waitFor()
  answers.push(performance.now() - typed)
  longest.push(Math.max(0, ...(await page.evaluate<number[]>('window.longTasks'))))
  await context.close()
}

const line = (...cells: string[]) => `| ${cells.join(' | ')} |`
process.stdout.write(
  [
    `## The Links page with ${count.toLocaleString('en-US')} links`,
    '',
    line('what', 'median', 'at most', ''),
    '|---|---|---|---|',
    line(
      'first visit until usable, ms',
      median(first).toFixed(0),
      String(READY_MS),
      formatVerdict(median(first) <= READY_MS),
    ),
    line(
      'next visit, ms',
      median(again).toFixed(0),
      String(READY_MS),
      formatVerdict(median(again) <= READY_MS),
    ),
    line(
      'longest task while typing a search, ms',
      median(longest).toFixed(0),
      String(LONG_TASK_MS),
      formatVerdict(median(longest) <= LONG_TASK_MS),
    ),
    line('found after the last key, ms', median(answers).toFixed(0), '–', ''),
    '',
  ].join('\n'),
)
await browser.close()
await server.close()
process.exit(0)
