// Measures the Links page of a workspace with many links in Chromium: bun bench/dashboard.ts [--links=100000] [--rounds=7].
// It measures the time until the page is usable, and the cost of typing a search.

import type { Page } from 'playwright-core'
import { setLogLevel } from '../server/lib/log.ts'
import { openChromium } from '../tests/support/browser/chromium.ts'
import { signUpOverHttp } from '../tests/support/users/sign-up.ts'
import { startServer } from '../tests/support/world.ts'
import { atMost, finish, formatCount, median, readOptions, seedLinks, toTable } from './harness.ts'

const READY_MS = 1000
const LONG_TASK_MS = 100

const { rounds, links } = readOptions({ rounds: 7, links: 100_000 })

setLogLevel('silent')
const server = await startServer('sqlite')
const person = await signUpOverHttp(server, { name: 'Ada' })
await seedLinks(server.app.db, person.workspaceId, links)
const browser = await openChromium()

// Long tasks keep the page from reacting. The browser reports tasks of 50 ms and more.
const WATCH = `
  window.longTasks = []
  new PerformanceObserver((list) => window.longTasks.push(...list.getEntries().map((entry) => entry.duration)))
    .observe({ type: 'longtask', buffered: true })`

/** @returns milliseconds from the start of loading until the list shows its first link */
async function measureUntilUsable(page: Page): Promise<number> {
  await page.goto(`${server.origin}/app/${person.workspaceId}/links`)
  await page.getByText(`bench${links}`, { exact: false }).first().waitFor()
  return page.evaluate<number>('performance.now()')
}

const cookies = person.cookie.split('; ').map((cookie) => cookie.split(/=(.*)/s) as [string, string])
const times = { first: [] as number[], again: [] as number[], longest: [] as number[], found: [] as number[] }
for (let round = 0; round < rounds; round++) {
  const context = await browser.newContext()
  await context.addCookies(cookies.map(([name, value]) => ({ name, value, url: server.origin })))
  await context.addInitScript(WATCH)
  const page = await context.newPage()
  times.first.push(await measureUntilUsable(page))
  times.again.push(await measureUntilUsable(page))
  await page.evaluate('window.longTasks.length = 0')
  const search = page.getByRole('searchbox').first()
  const wanted = `bench${links - 100 - round}`
  await search.pressSequentially(wanted, { delay: 60 })
  const typed = performance.now()
  await page.getByText(wanted, { exact: false }).first().waitFor()
  times.found.push(performance.now() - typed)
  times.longest.push(Math.max(0, ...(await page.evaluate<number[]>('window.longTasks'))))
  await context.close()
}

const toRow = (what: string, results: number[], bound?: number) => {
  const time = median(results)
  return [what, time.toFixed(0), bound === undefined ? '–' : atMost(bound, time)]
}
await browser.close()
await server.close()
finish(
  toTable(
    [`the Links page with ${formatCount(links)} links`, 'median', ''],
    [
      toRow('first visit until usable, ms', times.first, READY_MS),
      toRow('next visit, ms', times.again, READY_MS),
      toRow('longest task while typing a search, ms', times.longest, LONG_TASK_MS),
      toRow('found after the last key, ms', times.found),
    ],
  ),
)
