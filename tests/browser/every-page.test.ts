// Every page of the dashboard once: nothing fails, axe finds no barrier, and a workspace without anything says so. dashboard-pages.full.test.ts looks at the same pages in each theme, on a phone.

import { expect, test } from 'bun:test'
import { findBarriers } from '../support/browser/accessibility.ts'
import { type DashboardWindow, onDashboard, waitUntilDrawn } from '../support/browser/dashboard-browser.ts'
import { EMPTY_PATHS, listPaths, measureOverflow, PUBLIC_PAGES } from '../support/browser/dashboard-paths.ts'
import { fillWorkspace } from '../support/users/fill-workspace.ts'

/** The title of each page's empty state. */
const EMPTY: Record<string, string> = {
  '/links': 'Get started',
  '/links?new=1': 'Get started',
  '/links?archived=true': 'No matches',
  '/links/trash': 'The trash is empty',
  '/links/missing': 'No 404s yet',
  '/links/destinations': 'Destinations aren’t watched',
  '/analytics': 'Clicks',
  '/analytics/compare': 'Their numbers',
  '/analytics/live': 'Feed',
  '/analytics/proofs': 'No closed days yet',
  '/forms': 'No forms yet',
  '/forms?new=1': 'No forms yet',
  '/inbox': 'Your inbox is empty',
  '/inbox?status=unconfirmed': 'Nothing to confirm',
  '/settings/tags': 'No tags yet',
  '/domains': 'No custom domains yet',
  '/domains?new=1': 'No custom domains yet',
  '/notifications': 'No channels yet',
  '/notifications?new=1': 'No channels yet',
  '/notifications/deliveries': 'No deliveries yet',
  '/settings/transfer': 'Earlier imports',
  '/settings/transfer?tab=export': 'Whole workspace',
  '/settings': 'Tracking snippet',
  '/settings?tab=members': 'Members',
  '/settings?tab=keys': 'API keys',
  '/settings?tab=tools': 'Bookmarklet',
  '/settings?tab=erasures': 'No erasures yet',
  '/settings?tab=audit': '2 events',
  '/settings?tab=health': 'Only the operator can see this',
  '/settings?tab=account': 'Two-factor sign-in',
}

/** Looks at what the page has of its own: a dialog, or what is beside the sidebar. */
async function findProblems({ page }: DashboardWindow, path: string): Promise<string[]> {
  await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' })
  const part = (await page.getByRole('dialog').count()) > 0 ? '[role=dialog]' : 'main'
  const found = await findBarriers(page, part)
  if ((await measureOverflow(page)) > 0) found.push('is wider than the window')
  return found.map((problem) => `${path}: ${problem}`)
}

onDashboard('every page of the dashboard', (dashboard) => {
  test('has no barrier and no error with data, and asks no other server', async () => {
    const person = await dashboard().signUp()
    const paths = listPaths(await fillWorkspace(dashboard().server, person))
    const problems: string[] = []
    const origins = new Set<string>()
    // The themes have the same elements: in the quick suite, every other page is in the dark one.
    for (const [n, colorScheme] of (['light', 'dark'] as const).entries()) {
      const window = await dashboard().openWindow(person, { colorScheme })
      window.page.on('request', (request) => origins.add(new URL(request.url()).origin))
      for (const path of paths.filter((_, index) => index % 2 === n)) {
        await window.visit(path)
        problems.push(...(await findProblems(window, path)))
      }
      // Violations of the policy are among the errors.
      expect(window.errors).toEqual([])
      await window.close()
    }
    expect(problems).toEqual([])
    // Images that the page creates itself have the origin "null".
    expect([...origins].filter((origin) => origin !== 'null')).toEqual([dashboard().server.origin])
  })

  test('says in an empty workspace what there will be, without an error', async () => {
    const window = await dashboard().openWindow(await dashboard().signUp())
    const said: Record<string, string> = {}
    for (const path of EMPTY_PATHS) {
      await window.visit(path)
      const texts = await window.page.getByRole('main').locator('h2, h3').allInnerTexts()
      said[path] = texts.find((text) => text === EMPTY[path]) ?? texts.join(' | ')
    }
    expect(said).toEqual(EMPTY)
    expect(window.errors).toEqual([])
    await window.close()
  })

  test('is found at its address of earlier versions too, and inside its place of the sidebar', async () => {
    const person = await dashboard().signUp()
    const { page, visit, errors, close } = await dashboard().openWindow(person)
    for (const [old, now, place] of [
      ['/channels?new=1', '/notifications?new=1', 'Notifications'],
      ['/deliveries?status=failed', '/notifications/deliveries?status=failed', 'Notifications'],
      ['/live', '/analytics/live', 'Analytics'],
      ['/tags?search=a', '/settings/tags?search=a', 'Settings'],
      ['/transfer?tab=export', '/settings/transfer?tab=export', 'Settings'],
      ['/transfer/7', '/settings/transfer/7', 'Settings'],
    ] as const) {
      await visit(old)
      const { pathname, search } = new URL(page.url())
      expect(pathname + search).toBe(`/app/${person.workspaceId}${now}`)
      // A dialog hides the sidebar from screen readers.
      const places = page.locator('nav[aria-label=Workspace] a')
      expect(await places.count()).toBe(7)
      expect(await places.and(page.locator('[aria-current=page]')).textContent()).toBe(place)
    }
    // There is no import 7.
    expect(errors.filter((text) => !text.includes('404'))).toEqual([])
    await close()
  })

  test('has a help menu with the shortcuts and what is new', async () => {
    const { page, visit, errors, close } = await dashboard().openWindow(await dashboard().signUp())
    await visit('/domains')
    const choose = async (item: string) => {
      await page.getByRole('button', { name: 'Help' }).click()
      await page.getByRole('menuitem', { name: item }).click()
      await page.getByRole('dialog', { name: item }).waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
    }
    await choose('Keyboard shortcuts')
    await choose('What’s new')
    expect(errors).toEqual([])
    await close()
  })

  test('has no barrier before the sign-in, and leads there', async () => {
    const window = await dashboard().openWindow()
    const { page, errors, close } = window
    await page.goto(`${dashboard().server.origin}/app/1/inbox?status=new`)
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    expect(new URL(page.url()).searchParams.get('next')).toBe('/app/1/inbox?status=new')
    const problems: string[] = []
    for (const path of PUBLIC_PAGES) {
      await page.evaluate(`__TSR_ROUTER__.history.push('/app${path}')`)
      await page.waitForURL((url) => url.pathname.startsWith(`/app${path.split('?')[0]}`))
      await waitUntilDrawn(page)
      problems.push(...(await findProblems(window, path)))
    }
    expect(problems).toEqual([])
    // The browser writes refused requests into its console: that of a stranger, and those with an invalid token.
    expect(errors.filter((text) => !/40[14]/.test(text))).toEqual([])
    await close()
  })

  test('has a policy that allows only its own scripts and styles, and requires Trusted Types', async () => {
    const policy = (await dashboard().server.call('/app')).headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("require-trusted-types-for 'script'")
    expect(policy).not.toContain('unsafe')
  })
})
