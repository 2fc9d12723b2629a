// Measures the Links page of a workspace with many links in Chromium: bun bench/dashboard.ts [--links=100000] [--rounds=7].
// It measures the time until the page is usable, the cost of typing a search, and the first load of four pages over Fast 3G.

import type { Page } from 'playwright-core'
import { setLogLevel } from '../server/lib/log.ts'
import { openChromium } from '../tests/support/browser/chromium.ts'
import { waitUntilDrawn } from '../tests/support/browser/dashboard-browser.ts'
import { signUpOverHttp } from '../tests/support/users/sign-up.ts'
import { startServer } from '../tests/support/world.ts'
import { atMost, formatCount, median, print, readOptions, toTable } from './harness.ts'
import { seedLinks } from './servers.ts'

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

async function openContext() {
  const context = await browser.newContext()
  await context.addCookies(cookies.map(([name, value]) => ({ name, value, url: server.origin })))
  return context
}

const times = { first: [] as number[], again: [] as number[], longest: [] as number[], found: [] as number[] }
for (let round = 0; round < rounds; round++) {
  const context = await openContext()
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
print(
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

/** Fast 3G: 1.6 Mbit/s down, 0.75 up, 150 ms. */
const FAST_3G = { offline: false, latency: 150, downloadThroughput: 200_000, uploadThroughput: 93_750 }
const SLOW_READY_MS = 2500

/** @returns milliseconds from the start of loading, with an empty cache, until nothing in the window is loading */
async function measureSlowly(path: string): Promise<number> {
  const context = await openContext()
  const page = await context.newPage()
  const tools = await context.newCDPSession(page)
  await tools.send('Network.enable')
  await tools.send('Network.emulateNetworkConditions', FAST_3G)
  await page.goto(`${server.origin}/app/${person.workspaceId}${path}`, { waitUntil: 'commit' })
  await page.locator('#root h1').first().waitFor()
  await waitUntilDrawn(page)
  const time = await page.evaluate<number>('performance.now()')
  await context.close()
  return time
}

const { data: newest } = (await person.api('/links?limit=1')).json
const slow: string[][] = []
for (const path of ['/links', '/inbox', '/analytics', `/links/${newest[0].id}`]) {
  const results: number[] = []
  for (let round = 0; round < rounds; round++) results.push(await measureSlowly(path))
  slow.push(toRow(path, results, SLOW_READY_MS))
}
print(toTable(['first load over Fast 3G, ms', 'median', ''], slow))
await browser.close()
await server.close()
process.exit(0)
