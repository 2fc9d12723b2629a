// The command palette: the places that it finds beyond the pages of the sidebar.

import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { onDashboard, waitUntilDrawn } from '../support/browser/dashboard-browser.ts'

async function choose(page: Page, text: string, label: string) {
  await page.keyboard.press('Control+k')
  await page.getByPlaceholder('Search, paste a URL').fill(text)
  await page.getByRole('option', { name: label }).first().click()
}

const pasteOutside = (page: Page, text: string) =>
  page.evaluate(`(() => {
    const clipboardData = new DataTransfer()
    clipboardData.setData('text/plain', ${JSON.stringify(text)})
    document.body.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }))
  })()`)

onDashboard('the palette', (dashboard) => {
  test('opens pages and settings by their names, shortens a URL pasted anywhere, and signs out', async () => {
    const person = await dashboard().signUp()
    const { page, errors, open, close } = await dashboard().openWindow(person)
    await open('/links')
    await choose(page, 'api k', 'API keys')
    await page.waitForURL(/\/settings\?tab=keys$/)
    await waitUntilDrawn(page)
    await choose(page, 'utm', 'UTM templates')
    await page.waitForURL(/\/settings\?tab=utm$/)
    await choose(page, '404', '404s')
    await page.waitForURL(/\/links\/missing$/)
    await waitUntilDrawn(page)
    await pasteOutside(page, 'no address')
    await pasteOutside(page, ' https://shop.example/sale?a=b\n')
    await page.getByRole('option', { name: 'Shorten https://shop.example/sale?a=b' }).click()
    await page.waitForURL(/\/links\?new=1&url=/)
    await page.getByRole('dialog').getByLabel('Destination').first().waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await choose(page, 'sign o', 'Sign out')
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    expect(errors).toEqual([])
    await close()
  })
})
