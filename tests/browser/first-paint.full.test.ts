// First paint on a slow network, before the dashboard's scripts are there.

import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { onDashboard, waitUntilDrawn } from '../support/browser/dashboard-browser.ts'

/** The place of the logo, and the colors of the page and of the sidebar. */
const look = (page: Page) =>
  page.evaluate<Record<string, unknown>>(`(() => {
    const logo = [...document.querySelectorAll('svg[viewBox="0 0 32 32"]')].find((svg) => svg.checkVisibility())
    const { x, y, width } = logo.getBoundingClientRect()
    const sidebar = logo.closest('.bg-card')
    return {
      logo: [x, y, width],
      sidebar: sidebar && getComputedStyle(sidebar).backgroundColor,
      right: sidebar?.getBoundingClientRect().right,
      page: getComputedStyle(document.documentElement).backgroundColor,
    }
  })()`)

onDashboard('the first paint', (dashboard) => {
  test('is the frame of the page in the colors of the theme, and nothing jumps when the scripts are there', async () => {
    const person = await dashboard().signUp()
    for (const options of [
      { viewport: { width: 1440, height: 900 }, colorScheme: 'light' },
      { viewport: { width: 360, height: 740 }, colorScheme: 'light' },
    ] as const) {
      const { page, errors, close } = await dashboard().openWindow(person, { ...options, inNewProfile: true })
      // The person has chosen the dark theme, which the system does not have.
      await page.addInitScript(`localStorage.setItem('towpath.theme', 'dark')`)
      const arrival = Promise.withResolvers<void>()
      await page.route(/assets\/(main|chunk)-.*\.js/, async (route) => {
        await arrival.promise
        await route.continue()
      })
      await page.goto(`${dashboard().server.origin}/app/${person.workspaceId}/links`, { waitUntil: 'commit' })
      await page.getByText('Loading…').waitFor()
      const before = await look(page)
      expect(before.page).toBe('rgb(18, 22, 20)')
      expect(before.sidebar).toBe('rgb(26, 32, 29)')
      arrival.resolve()
      await waitUntilDrawn(page)
      expect(await look(page)).toEqual(before)
      expect(await page.getByText('Loading…').isVisible()).toBe(false)
      expect(errors).toEqual([])
      await close()
    }
  })

  test('of a stranger is the frame of the sign-in, and without scripts a sentence', async () => {
    const { page, close } = await dashboard().openWindow()
    await page.route(/assets\/(main|chunk)-.*\.js/, (route) => route.abort())
    await page.goto(`${dashboard().server.origin}/app`)
    await page.getByText('Loading…').waitFor()
    expect((await look(page)).logo).toEqual([452.5, expect.any(Number), 30])
    expect(await page.getByText('Analytics').count()).toBe(0)
    await close()

    const without = await dashboard().openWindow(undefined, { javaScriptEnabled: false })
    await without.page.goto(`${dashboard().server.origin}/app`)
    expect(await without.page.locator('noscript').textContent()).toContain('The dashboard needs JavaScript.')
    expect(await without.page.locator('noscript').isVisible()).toBe(true)
    expect(await without.page.getByText('Loading…').isVisible()).toBe(false)
    await without.close()
  })
})
