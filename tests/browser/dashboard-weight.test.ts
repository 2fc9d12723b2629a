// The dashboard's weight in a browser: the size of the first page's code and font, and the number of rows drawn of a long list.
// (bench/dashboard.ts measures how long it takes.)

import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { onDashboard, waitUntilDrawn } from '../support/browser/dashboard-browser.ts'
import { atScale } from '../support/suite.ts'
import { until } from '../support/until.ts'
import { fillWorkspace } from '../support/users/fill-workspace.ts'
import type { SignedUpUser } from '../support/users/sign-up.ts'

const FIRST_LOAD_BYTES = 200 * 1024
const FONT_BYTES = 40 * 1024
const LINKS = atScale({ quick: 200, full: 300, soak: 300 })

/** This browser has been in the workspace before. */
const rememberWorkspace = (page: Page, { workspaceId }: SignedUpUser) =>
  page.addInitScript(`localStorage.setItem('towpath.workspace', '${workspaceId}')`)

onDashboard('the first page', (dashboard) => {
  test('is at most 200 KB of code, gzipped', async () => {
    const person = await dashboard().signUp()
    const { page, open, close } = await dashboard().openWindow(person, { inNewProfile: true })
    const sizes = new Map<string, number>()
    page.on('response', async (response) => {
      const { pathname } = new URL(response.url())
      if (!pathname.endsWith('.js')) return
      expect(response.headers()['content-encoding']).toBe('gzip')
      sizes.set(pathname, Number(response.headers()['content-length']))
    })
    // The first answers and the page's own files are on their way while the script is.
    await rememberWorkspace(page, person)
    const early: string[] = []
    page.on('request', (request) => early.push(new URL(request.url()).pathname.replace(/-\w+\.js$/, '')))
    const wanted = ['/api/auth/get-session', '/v1/workspaces', '/v1/links', '/app/assets/chunk']
    await page.route('**/main-*.js', async (route) => {
      await until('the first requests', () => wanted.every((path) => early.includes(path)))
      await route.continue()
    })
    await open('/links')
    await page.waitForLoadState('networkidle')
    expect(early.filter((path) => path === '/api/auth/get-session')).toHaveLength(1)
    const total = [...sizes.values()].reduce((sum, size) => sum + size, 0)
    expect(total).toBeGreaterThan(50_000)
    expect(total).toBeLessThanOrEqual(FIRST_LOAD_BYTES)
    await close()
  })

  test.each(['/links', '/inbox', '/analytics', '/settings', '/domains', '/notifications'])(
    'loads few files of scripts: %s',
    async (path) => {
      const person = await dashboard().signUp()
      const { page, open, close } = await dashboard().openWindow(person, { inNewProfile: true })
      const scripts = new Set<string>()
      page.on('request', (request) => {
        if (request.url().endsWith('.js')) scripts.add(request.url())
      })
      await open(path)
      await page.waitForLoadState('networkidle')
      expect(scripts.size).toBeLessThanOrEqual(10)
      await close()
    },
  )

  test('asks for few things: a link, the settings of a form, analytics', async () => {
    const person = await dashboard().signUp()
    const { link, form } = await fillWorkspace(dashboard().server, person)
    for (const path of [`/links/${link}`, `/forms/${form}?tab=settings`, '/analytics']) {
      const { page, open, errors, close } = await dashboard().openWindow(person, { inNewProfile: true })
      // Each once: how often a page asks again until it is idle depends on the machine.
      const asked = new Set<string>()
      page.on('request', (request) => {
        const { pathname } = new URL(request.url())
        if (/\.js$|^\/(?:v1|api)\//.test(pathname) && !/analytics\/(?:clicks|leads)$/.test(pathname)) {
          asked.add(pathname + (request.postData() ?? ''))
        }
      })
      await open(path)
      await page.waitForLoadState('networkidle')
      const requests = [...asked]
      const batches = requests.filter((pathname) => pathname.startsWith('/v1/analytics/batch'))
      expect([path, batches.length <= 3]).toEqual([path, true])
      expect([path, requests.length > 15 ? requests : []]).toEqual([path, []])
      expect(errors).toEqual([])
      await close()
    }
  })

  test('asks early for nothing that it does not use: the links, a link, the inbox, analytics', async () => {
    const person = await dashboard().signUp()
    const { link } = await fillWorkspace(dashboard().server, person)
    const { page, open, close } = await dashboard().openWindow(person, { inNewProfile: true })
    await rememberWorkspace(page, person)
    for (const path of ['/links', `/links/${link}`, '/inbox', '/analytics']) {
      await open(path)
      const left = () => page.evaluate<string[]>('[...window.earlyAnswers.keys()]')
      await until(`all early answers of ${path}`, async () => (await left()).length === 0)
    }
    await close()
  }, 120_000)

  test('has at most 40 KB of font, and nothing moves when the font arrives', async () => {
    const person = await dashboard().signUp()
    await person.api('/links', {
      method: 'POST',
      body: { destinationUrl: 'https://example.com/', slug: 'moves-not' },
    })
    const { page, close } = await dashboard().openWindow(person, { inNewProfile: true })
    await rememberWorkspace(page, person)
    const fonts: number[] = []
    page.on('response', (response) => {
      if (response.url().endsWith('.woff2')) fonts.push(Number(response.headers()['content-length']))
    })
    const arrival = Promise.withResolvers<void>()
    await page.route(/\.woff2$/, async (route) => {
      await arrival.promise
      await route.continue()
    })
    // The font is a part of what `load` waits for.
    await page.goto(`${dashboard().server.origin}/app/${person.workspaceId}/links`, { waitUntil: 'commit' })
    await waitUntilDrawn(page)
    const measure = () =>
      page.evaluate<number[]>(
        `[...document.querySelectorAll('h1, nav a, main a, main p')].map((e) => Math.round(e.getBoundingClientRect().top))`,
      )
    const before = await measure()
    await page.evaluate(`window.shift = 0; new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) window.shift += entry.value
    }).observe({ type: 'layout-shift' })`)
    arrival.resolve()
    await until('the font', () => page.evaluate<boolean>(`document.fonts.check('15px "Inter Variable"')`))
    await page.evaluate('document.fonts.ready')
    expect(await measure()).toEqual(before)
    expect(await page.evaluate<number>('window.shift')).toBeLessThan(0.01)
    expect(fonts.length).toBe(1)
    expect(fonts[0]).toBeLessThanOrEqual(FONT_BYTES)
    await close()
  })

  test('draws only the visible rows of a long list, and loads further pages when they are scrolled to', async () => {
    const person = await dashboard().signUp()
    for (let from = 0; from < LINKS; from += 100) {
      const links = Array.from({ length: 100 }, (_, n) => ({
        destinationUrl: `https://example.com/${from + n}`,
        slug: `of-many-${person.workspaceId}-${from + n}`,
      }))
      const created = await person.api('/links/bulk', { method: 'POST', body: links })
      expect(created.status).toBe(201)
    }
    const { page, open, close } = await dashboard().openWindow(person)
    const requests: URLSearchParams[] = []
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url())
      if (pathname === '/v1/links') requests.push(searchParams)
    })
    await open('/links')
    const rows = page.getByText(`of-many-${person.workspaceId}-`)
    await page
      .getByText(`of-many-${person.workspaceId}-${LINKS - 1}`)
      .first()
      .waitFor()
    expect(await rows.count()).toBeLessThan(60)
    const listFurtherPages = () => requests.filter((query) => query.has('cursor'))
    expect(requests.every((query) => Number(query.get('limit') ?? 50) <= 100)).toBe(true)
    expect(listFurtherPages()).toEqual([])

    await until(
      'the oldest link',
      async () => {
        await page.keyboard.press('End')
        return (await page.getByText(new RegExp(`of-many-${person.workspaceId}-0$`)).count()) > 0
      },
      30_000,
    )
    expect(await rows.count()).toBeLessThan(60)
    expect(listFurtherPages().length).toBeGreaterThan(0)
    await close()
  }, 120_000)
})
