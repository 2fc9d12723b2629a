// The 404s page in a browser: its list, the two ways to give a slug a link, the email to the owners.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { findBarriers } from '../support/browser/accessibility.ts'
import { type DashboardWindow, onDashboard } from '../support/browser/dashboard-browser.ts'
import { addVerifiedDomain } from '../support/server/verified-domain.ts'
import { full } from '../support/suite.ts'
import { until } from '../support/until.ts'
import type { SignedUpUser } from '../support/users/sign-up.ts'

const DOMAIN = 'go.example'
/** An emoji that is joined by an invisible character, a letter that is written from right to left, and a long slug. */
const STRANGE = ['👩‍💻', 'ab\u05d0\u05d1', `${'long-'.repeat(37)}x`]

onDashboard('the list of 404s', (dashboard) => {
  let person: SignedUpUser
  let window: DashboardWindow
  let page: Page

  beforeAll(async () => {
    person = await dashboard().signUp()
    await addVerifiedDomain(dashboard().server, person.workspaceId, DOMAIN)
    window = await dashboard().openWindow(person)
    page = window.page
  })
  afterAll(async () => {
    await window?.close()
  })

  async function ask(slugKey: string, times: number, domain = DOMAIN, workspaceId = person.workspaceId) {
    const { app, now } = dashboard().server
    for (let n = 0; n < times; n++)
      app.misses.count({
        at: now(),
        domain,
        workspaceId,
        slugKey,
        human: true,
        address: '198.51.100.1',
        userAgent: 'Mozilla/5.0',
      })
    await app.misses.flush()
  }
  const row = (slug: string) => page.getByRole('listitem', { name: `${DOMAIN}/${slug}`, exact: true })
  /** On the row, or on a button in it. */
  const untilFocused = (slug: string) =>
    until('the focus in the row', () =>
      page.evaluate(`document.activeElement.closest('li')?.id === 'missing-${DOMAIN}/${slug}'`),
    )
  const readLink = async (slug: string) =>
    (await person.api(`/links?search=${slug}&domain=${DOMAIN}`)).json.data[0]

  test('is empty at first, and says when that changes', async () => {
    await window.open('/links')
    await page.getByRole('link', { name: '404s' }).click()
    await page.getByRole('heading', { name: 'No 404s yet' }).waitFor()
  })

  test('is listed with the closest link, and a link is made from it by keyboard', async () => {
    await person.api('/links', {
      method: 'POST',
      body: { destinationUrl: 'https://example.com/summer', slug: 'summer-sale', domain: DOMAIN },
    })
    await ask('sumer-sale', 3)
    await ask('brochure', 2)
    await window.open('/links/missing')
    await row('sumer-sale').getByText('3 times').waitFor()
    await row('sumer-sale').getByRole('link', { name: '/summer-sale' }).waitFor()
    await row('brochure').getByText('No similar link').waitFor()
    await row('brochure').getByRole('button', { name: 'Create link' }).press('Enter')
    const slug = page.getByRole('textbox', { name: 'Short link' })
    await slug.waitFor()
    expect(await slug.inputValue()).toBe('brochure')
    await page.getByLabel('Destination URL').fill('https://example.com/brochure')
    await page.getByRole('button', { name: 'Create link', exact: true }).last().click()
    await row('brochure').getByText('Exists now').waitFor()
    await untilFocused('brochure')
    expect(await readLink('brochure')).toMatchObject({ slug: 'brochure', domain: DOMAIN })
    expect(await row('brochure').getByRole('button').count()).toBe(0)
  })

  full('gets the destination of the closest link, or of another one', async () => {
    await ask('prices', 1)
    await window.open('/links/missing')
    await row('sumer-sale').getByRole('button', { name: 'Redirect' }).click()
    await page.getByRole('radio', { name: 'summer-sale' }).waitFor()
    expect(await page.getByRole('radio', { name: 'summer-sale' }).isChecked()).toBe(true)
    await page.getByRole('dialog').getByRole('button', { name: 'Create link' }).click()
    await row('sumer-sale').getByText('Exists now').waitFor()
    expect((await readLink('sumer-sale')).destinationUrl).toBe('https://example.com/summer')
    await row('prices').getByRole('button', { name: 'Redirect' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('radio').first().waitFor()
    expect(await dialog.getByRole('button', { name: 'Create link' }).isDisabled()).toBe(true)
    await dialog.getByRole('searchbox').fill('broch')
    await until('one link', async () => (await dialog.getByRole('radio').count()) === 1)
    await dialog.getByRole('radio').check()
    await dialog.getByRole('button', { name: 'Create link' }).click()
    await row('prices').getByText('Exists now').waitFor()
    expect((await readLink('prices')).destinationUrl).toBe('https://example.com/brochure')
  })

  full('says in the dialog why a link cannot be made', async () => {
    await ask('doomed', 1)
    await window.open('/links/missing')
    await row('doomed').getByRole('button', { name: 'Redirect' }).click()
    await page.getByRole('radio').first().check()
    // Somebody else makes the link meanwhile.
    const body = { destinationUrl: 'https://example.com/', slug: 'doomed', domain: DOMAIN }
    await person.api('/links', { method: 'POST', body })
    await page.getByRole('dialog').getByRole('button', { name: 'Create link' }).click()
    await page.getByRole('alert').getByText('Slug already in use').waitFor()
    await page.keyboard.press('Escape')
    await untilFocused('doomed')
  })

  test('mails the owners when they want that', async () => {
    const read = async () => (await person.api('/workspace')).json.data.missingReportAbove
    const mail = page.getByRole('switch', { name: /^Email me/ })
    const above = page.getByLabel('Requests in 24 hours, more than')
    await above.fill('9')
    await mail.click()
    await page.getByText('Must be at least 10').waitFor()
    expect(await read()).toBeNull()
    await above.fill('25')
    await mail.click()
    await until('mail', async () => (await read()) === 25)
    await above.fill('40')
    await page.getByRole('button', { name: 'Save' }).click()
    await until('more', async () => (await read()) === 40)
    await mail.click()
    await until('no mail', async () => (await read()) === null)
  })

  for (const [colorScheme, width] of [
    ['light', 1280],
    ['dark', 360],
  ] as const) {
    full(
      `shows slugs of strangers as they are, without barriers, in ${width} pixels (${colorScheme})`,
      async () => {
        for (const slug of STRANGE) await ask(slug, 1)
        const { page, open, errors, close } = await dashboard().openWindow(person, {
          colorScheme,
          viewport: { width, height: 740 },
        })
        await open('/links/missing')
        await page.getByText('👩‍💻', { exact: true }).waitFor()
        const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
        expect(await page.evaluate<number>(overflow)).toBeLessThanOrEqual(0)
        expect(await findBarriers(page)).toEqual([])
        await page.getByRole('button', { name: 'Redirect' }).last().click()
        await page.getByRole('radio').first().waitFor()
        expect(await page.evaluate<number>(overflow)).toBeLessThanOrEqual(0)
        expect(await findBarriers(page)).toEqual([])
        expect(errors).toEqual([])
        await close()
      },
    )
  }
})
