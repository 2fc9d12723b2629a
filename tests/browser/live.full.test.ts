// The live page in a browser: feed, map and figures, and a tab that is open for a day.

import { expect, test } from 'bun:test'
import { onDashboard } from '../support/browser/dashboard-browser.ts'

const MINUTE = 60_000

interface Stream {
  /** Minutes since the tab was opened. */
  from: number
  minutes: number
}

/** A stream as the server writes it: each minute two full frames of clicks, one of submissions, and the figures. */
function writeStream({ from, minutes }: Stream): string {
  const begin = Date.parse('2026-03-29T00:00:00Z')
  const frames: [string, object][] = []
  for (let minute = from; minute < from + minutes; minute++) {
    const at = begin + minute * MINUTE
    const toTime = (ms: number) => new Date(ms).toISOString()
    const link = { linkId: 1, slug: `s${minute % 500}`, domain: 'go.example' }
    const click = {
      ...link,
      city: 'Łódź',
      device: 'Mobile',
      browser: 'Safari',
      referrer: null,
      trigger: 'qr',
    }
    for (let second = 0; second < 60; second += 30) {
      const clicks = Array.from({ length: 50 }, (_, n) => ({
        ...click,
        time: toTime(at + second * 1000 - n),
        country: ['PL', 'BR', null][n % 3],
      }))
      frames.push(['activity', { clicks, submissions: [], more: 0 }])
    }
    const submission = { ...link, id: minute + 1, formKey: 'f', formName: 'Contact', country: 'PL' }
    const submissions = [{ ...submission, time: toTime(at + 59_500) }]
    frames.push(['activity', { clicks: [], submissions, more: 0 }])
    const start = at - 29 * MINUTE
    frames.push([
      'figures',
      {
        start: toTime(start),
        end: toTime(at + MINUTE),
        clicks: 15_000,
        visitors: 900 + minute,
        submissions: 30,
        minutes: Array.from({ length: 30 }, (_, n) => ({
          time: toTime(start + n * MINUTE),
          clicks: 500,
          submissions: 1,
        })),
        countries: [
          { country: 'PL', clicks: 10_000 },
          { country: 'BR', clicks: 5_000 },
        ],
        links: Array.from({ length: 10 }, (_, n) => ({
          link: n + 1,
          slug: `s${(minute + n) % 500}`,
          domain: 'go.example',
          clicks: 500,
        })),
      },
    ])
  }
  return frames.map(([event, data]) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`).join('')
}

onDashboard('the live page', (dashboard) => {
  test('has clicks, submissions, a map and 30 minutes, and forgets what is older', async () => {
    const person = await dashboard().signUp()
    const create = async (path: string, body: object) =>
      (await person.api(path, { method: 'POST', body })).json.data
    const link = await create('/links', { destinationUrl: 'https://example.com/' })
    const form = await create('/forms', { name: 'Contact' })
    const { server } = dashboard()
    await server.click(link.slug, { Referer: 'https://news.example/' })
    await server.waitUntilShipped()
    const { page, open, errors, close } = await dashboard().openWindow(person)
    await open('/analytics/live')
    const feed = page.getByRole('region', { name: 'Feed' }).getByRole('listitem')
    await feed
      .filter({ hasText: `/${link.slug}` })
      .filter({ hasText: 'news.example' })
      .waitFor()
    await server.submit(form.formKey, { message: 'what a person wrote' })
    await feed.filter({ hasText: 'Contact' }).waitFor()
    expect(await page.getByRole('main').textContent()).not.toContain('what a person wrote')
    await page.getByRole('img', { name: 'World map of clicks by country.' }).waitFor()
    const place = page.locator('nav[aria-label=Workspace] a[aria-current=page]')
    expect(await place.textContent()).toBe('Analytics')
    // The window of the stream moves on.
    await page.route('**/v1/analytics/live', (route) =>
      route.fulfill({ contentType: 'text/event-stream', body: writeStream({ from: 0, minutes: 1 }) }),
    )
    server.advanceClock(31 * MINUTE)
    await page.reload()
    await feed.filter({ hasText: 's0' }).first().waitFor()
    await page.route('**/v1/analytics/live', (route) => {
      const later = writeStream({ from: 40, minutes: 1 }).split('\n\n').at(-2)
      return route.fulfill({ contentType: 'text/event-stream', body: `${later}\n\n` })
    })
    await page.getByText('Nothing has happened in the last 30 minutes.').waitFor()
    expect(errors).toEqual([])
    await close()
  })

  test('does not grow in a tab that is open for a day', async () => {
    const { page, open, errors, close } = await dashboard().openWindow(await dashboard().signUp())
    const session = await page.context().newCDPSession(page)
    let minute = 0
    await page.route('**/v1/analytics/live', (route) => {
      // Two hours a connection: twelve of them are a day.
      const body = writeStream({ from: minute, minutes: 120 })
      minute += 120
      return route.fulfill({ contentType: 'text/event-stream', body })
    })
    await open('/analytics/live')
    const sizes = []
    while (sizes.length < 12) {
      const visitors = (900 + minute - 1).toLocaleString('en-US')
      await page.getByRole('definition').filter({ hasText: visitors }).waitFor()
      await session.send('HeapProfiler.collectGarbage')
      const { nodes } = await session.send('Memory.getDOMCounters')
      const { usedSize } = await session.send('Runtime.getHeapUsage')
      const rows = await page.getByRole('region', { name: 'Feed' }).getByRole('listitem').count()
      sizes.push({ nodes, rows, heap: usedSize })
      const seen = minute
      while (minute === seen) await page.waitForTimeout(50)
    }
    // The first one has no earlier connection, whose text the browser keeps for a while.
    const [, second, ...later] = sizes
    for (const { nodes, rows, heap } of later) {
      expect(rows).toBe(100)
      expect(nodes).toBeLessThan(1.1 * (second?.nodes ?? 0))
      expect(heap).toBeLessThan((second?.heap ?? 0) + 2_000_000)
    }
    expect(errors).toEqual([])
    await close()
  }, 120_000)
})
