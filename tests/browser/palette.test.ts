// The command palette: the places that it finds beyond the pages of the sidebar.

import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { onDashboard, waitUntilDrawn } from '../support/browser/dashboard-browser.ts'

async function choose(page: Page, text: string, label: string) {
  await page.keyboard.press('Control+k')
  await page.getByPlaceholder('Search, paste a URL').fill(text)
  await page.getByRole('option', { name: label }).first().click()
}

onDashboard('the palette', (dashboard) => {
  test('opens the settings by their names, and signs out', async () => {
    const person = await dashboard().signUp()
    const { page, errors, open, close } = await dashboard().openWindow(person)
    await open('/links')
    await choose(page, 'api k', 'API keys')
    await page.waitForURL(/\/settings\?tab=keys$/)
    await waitUntilDrawn(page)
    await choose(page, 'sign o', 'Sign out')
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    expect(errors).toEqual([])
    await close()
  })
})
