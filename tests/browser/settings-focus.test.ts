// The keyboard's focus after each action in the settings: on the button that was pressed, or on the row that follows.

import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { onDashboard } from '../support/browser/dashboard-browser.ts'
import { until } from '../support/until.ts'

onDashboard('the focus in the settings', (dashboard) => {
  /** The focused element: the text of its row, and its own name. */
  const focused = (page: Page) =>
    page.evaluate<string>(`(() => {
      const { activeElement: element } = document
      const row = element.closest('li')?.querySelector('p')?.textContent.trim()
      const name = element.getAttribute('aria-label') ?? element.textContent.trim()
      return element === document.body ? 'nothing' : row ? row + ': ' + name : name
    })()`)
  const expectFocus = (page: Page, what: string) =>
    until(`the focus on ${what}`, async () => (await focused(page)) === what, 4_000)
  /** Presses with the keyboard, as somebody does who has no mouse. */
  async function press(page: Page, name: string, index = 0) {
    await page.getByRole('button', { name, exact: true }).nth(index).focus()
    await page.keyboard.press('Enter')
  }

  test('is on the pressed button, or on the row after the one that went away', async () => {
    const owner = await dashboard().signUp()
    for (const name of ['First', 'Second']) await owner.api('/keys', { method: 'POST', body: { name } })
    for (const email of ['a@example.com', 'b@example.com'])
      await owner.api('/invitations', { method: 'POST', body: { email, role: 'member' } })
    const { page, open, errors, close } = await dashboard().openWindow(owner)

    await open('/settings?tab=keys')
    await press(page, 'New key')
    await page.getByLabel('Name').fill('Website')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'I saved it' }).focus()
    await page.keyboard.press('Enter')
    await expectFocus(page, 'New key')
    const names = await page.locator('main li p .font-medium').allInnerTexts()
    expect(names).toHaveLength(3)
    await press(page, 'Revoke', 1)
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).focus()
    await page.keyboard.press('Enter')
    await expectFocus(page, `${names[2]}: Revoke`)
    await open('/settings?tab=members')
    await press(page, 'Revoke')
    await until(
      'one invitation is left',
      async () => (await page.getByRole('button', { name: 'Revoke' }).count()) === 1,
    )
    await until('a row has the focus', async () => /: Revoke$/.test(await focused(page)), 4_000)
    expect(errors).toEqual([])
    await close()
  })
})
