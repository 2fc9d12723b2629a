// Forms in the dashboard: who hears of a new one, settings for senders, the page of a form, and rows that open on a click.

import { afterAll, expect, test } from 'bun:test'
import type { FormResource } from '../../server/features/forms/schema.ts'
import { findBarriers } from '../support/browser/accessibility.ts'
import { onDashboard } from '../support/browser/dashboard-browser.ts'
import { startMailServer } from '../support/fake-servers/mail-server.ts'
import { full } from '../support/suite.ts'
import { until } from '../support/until.ts'
import type { SignedUpUser } from '../support/users/sign-up.ts'

const readForm = async (person: SignedUpUser, key: string): Promise<FormResource> =>
  (await person.api(`/forms/${key}`)).json.data
const createForm = async (person: SignedUpUser, body: object): Promise<FormResource> =>
  (await person.api('/forms', { method: 'POST', body })).json.data

const mail = await startMailServer()
afterAll(() => mail.stop())
const environment = { SMTP_URL: mail.url(), MAIL_FROM: 'Towpath <go@towpath.example>' }

/** The confirmation of a change, in a corner, covers no button here. */
const TALL = { viewport: { width: 1280, height: 1400 } }

onDashboard(
  'forms in the dashboard',
  (dashboard) => {
    test('a new form shows senders pages of this server, unless another choice is made', async () => {
      const { signUp, openWindow } = dashboard()
      const person = await signUp()
      const { page, open, errors, close } = await openWindow(person)
      await open('/forms?new=1')
      await page.getByLabel('Name').fill('Contact')
      await page.getByRole('button', { name: 'Create form' }).click()
      await page.waitForURL(/\/forms\/[a-z\d]{10}$/)
      const key = page.url().slice(-10)
      expect(await readForm(person, key)).toMatchObject({
        pageUrl: null,
        redirectUrl: null,
        afterSubmit: 'hosted',
        onError: 'hosted',
      })
      await page.getByText('Without it, senders see a thank-you page of this server').waitFor()

      await page.getByRole('link', { name: 'Choose what senders see' }).click()
      await page.waitForURL(/tab=settings&page=sending$/)
      await page.getByLabel('Your own page').check()
      await page.getByLabel('Back to your page, with errors for the snippet').check()
      await page.getByText('Senders see your home page, without a message.').first().waitFor()
      await page.getByLabel('Page with the form', { exact: true }).fill('https://shop.example/contact')
      const save = page.getByRole('button', { name: 'Save', exact: true })
      await save.click()
      // The URL is still missing. The error stands at its field.
      const url = page.getByLabel('Redirect URL')
      await until('an error', async () => (await url.getAttribute('aria-invalid')) === 'true')
      await url.fill('https://shop.example/thanks')
      await save.click()
      await page.getByText('All changes saved').waitFor()
      expect(await readForm(person, key)).toMatchObject({
        pageUrl: 'https://shop.example/contact',
        redirectUrl: 'https://shop.example/thanks',
        onError: 'referer',
      })
      await page.getByLabel('Back to your page', { exact: true }).check()
      await save.click()
      await page.getByText('All changes saved').waitFor()
      expect(await readForm(person, key)).toMatchObject({ redirectUrl: null, afterSubmit: 'referer' })
      await page.getByRole('link', { name: 'Spam' }).click()
      const current = page
        .getByRole('navigation', { name: 'Settings of the form' })
        .locator('[aria-current=page]')
      expect(await current.textContent()).toBe('Spam')
      const add = page.getByRole('button', { name: 'Add the sender' })
      expect(await add.isDisabled()).toBe(true)
      await page.getByLabel('Always allow').fill('*@friends.example')
      await add.click()
      await page.getByText('*@friends.example', { exact: true }).waitFor()
      await open(`/forms/${key}?tab=gallery`)
      await page.getByTitle('Preview: ').waitFor()
      await open(`/forms/${key}?tab=settings&page=sending`)
      // A long address stays inside a phone's window.
      await page
        .getByLabel('Page with the form', { exact: true })
        .fill(`https://shop.example/${'long'.repeat(50)}`)
      await page.setViewportSize({ width: 360, height: 740 })
      await page.getByText('/longlong').first().waitFor()
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360)
      expect(errors.filter((text) => !text.includes('422'))).toEqual([])
      await close()
    })

    test('the page of a form comes from the page check, or from submissions, when a person says so', async () => {
      const { signUp, openWindow, server } = dashboard()
      const person = await signUp()
      const form = await createForm(person, { name: 'Contact' })
      // With Global Privacy Control no link is searched for, so that the test needs no analytics.
      const headers = { Referer: 'https://shop.example/contact?utm_source=x', 'Sec-GPC': '1' }
      const body = { email: 'ada@example.com' }
      await server.call(`/f/${form.formKey}`, { method: 'POST', body, headers })
      const { page, open, errors, close } = await openWindow(person, TALL)
      await open(`/forms/${form.formKey}?tab=settings&page=sending`)
      await page.getByText('The newest submissions came from https://shop.example/contact.').waitFor()
      // A stranger could have sent that address: nothing changes before a person has decided.
      expect((await readForm(person, form.formKey)).pageUrl).toBeNull()
      await page.getByRole('button', { name: 'Use this page' }).click()
      expect(await page.evaluate('document.activeElement.value')).toBe('https://shop.example/contact')
      await page.getByRole('button', { name: 'Save', exact: true }).click()
      await page.getByText('All changes saved').waitFor()
      expect((await readForm(person, form.formKey)).pageUrl).toBe('https://shop.example/contact')

      await page.getByRole('link', { name: 'Page check' }).click()
      await page.getByText('Paste the HTML instead').click()
      await page
        .getByLabel('Page HTML')
        .fill(`<form action="${form.endpoint}" method="post"><button>Send</button></form>`)
      await page.getByLabel('Page URL').fill('https://shop.example/new')
      await page.getByRole('button', { name: 'Check page' }).click()
      await page.getByText('It replaces https://shop.example/contact.').waitFor()
      await page.getByRole('button', { name: 'Save as the form’s page' }).click()
      await page.getByText('This is the page of the form.').waitFor()
      expect(await page.evaluate('document.activeElement.textContent')).toContain('This is the page')
      expect((await readForm(person, form.formKey)).pageUrl).toBe('https://shop.example/new')
      expect(errors).toEqual([])
      await close()
    })

    test('a row opens its form wherever one clicks, and its buttons do what they say', async () => {
      const { signUp, openWindow } = dashboard()
      const person = await signUp()
      const form = await createForm(person, { name: 'Contact' })
      const { page, open, errors, close } = await openWindow(person)
      await page.context().grantPermissions(['clipboard-write'])
      await open('/forms')
      const row = page.getByRole('row').filter({ hasText: 'Contact' })
      const box = await row.boundingBox()
      if (!box) throw new Error('the row is not drawn')
      // A step is smaller than any button of the row.
      const missed: number[] = []
      for (let x = 4; x < box.width; x += 12) {
        const hit = await page.evaluate<string>(
          `document.elementFromPoint(${box.x + x}, ${box.y + 6})?.closest('a, button')?.getAttribute('href') ?? ''`,
        )
        if (!hit.endsWith(`/forms/${form.formKey}`)) missed.push(x)
      }
      expect(missed).toEqual([])
      await page.getByRole('button', { name: 'Copy endpoint of Contact' }).click()
      await page.getByRole('status').filter({ hasText: 'Copied' }).waitFor({ state: 'attached' })
      expect(page.url()).toEndWith('/forms')
      await page.mouse.click(box.x + box.width - 8, box.y + box.height / 2)
      await page.waitForURL(`**/forms/${form.formKey}`)
      expect(errors).toEqual([])
      await close()
    })

    full(
      'a new form emails its maker by one channel, without a second confirmation, and says so at its top',
      async () => {
        const { signUp, openWindow, server } = dashboard()
        const person = await signUp()
        const { page, open, errors, close } = await openWindow(person)
        const create = async (name: string, act?: () => Promise<void>) => {
          await open('/forms?new=1')
          await page.getByText(`Emails new submissions to ${person.email}.`).waitFor()
          await page.getByLabel('Name').fill(name)
          await act?.()
          await page.getByRole('button', { name: 'Create form' }).click()
          await page.waitForURL(/\/forms\/[a-z\d]{10}$/)
          return readForm(person, page.url().slice(-10))
        }
        const first = await create('Contact')
        await page.getByText(`Notifies ${person.email} (Email).`).waitFor()
        const second = await create('Booking')
        expect(second.channelIds).toEqual(first.channelIds)
        expect((await person.api('/channels')).json.data).toMatchObject([
          { to: [person.email], unconfirmed: [], forms: 2 },
        ])
        const third = await create('Quiet', () => page.getByLabel('Notify me').uncheck())
        expect(third.channelIds).toEqual([])
        await page.getByText('Nobody is notified.').waitFor()

        await page.getByRole('link', { name: 'Choose who is notified' }).click()
        await page.getByRole('button', { name: 'Notify me' }).click()
        await page.getByRole('link', { name: /Notifications\s*: has unsaved changes/ }).waitFor()
        expect(await findBarriers(page)).toEqual([])
        // The pages share the draft; a link that leaves them asks first.
        await page.getByRole('link', { name: 'General' }).click()
        await page.getByLabel('Name', { exact: true }).fill('Less quiet')
        await page.getByRole('link', { name: 'Page check' }).click()
        await page.getByRole('dialog', { name: 'Leave without saving?' }).waitFor()
        await page.getByRole('button', { name: 'Keep editing' }).click()
        await page.getByLabel('Name', { exact: true }).press('Control+s')
        await page.getByText('All changes saved').waitFor()
        expect(await readForm(person, third.formKey)).toMatchObject({
          name: 'Less quiet',
          channelIds: first.channelIds,
        })
        await page.getByLabel('Name', { exact: true }).fill('Not kept')
        await page.getByRole('link', { name: 'Page check' }).click()
        await page.getByRole('button', { name: 'Discard changes' }).click()
        await page.waitForURL(/tab=doctor$/)

        await server.call(`/f/${first.formKey}`, {
          method: 'POST',
          body: { name: 'Ada Lovelace', email: 'ada@example.com' },
          headers: { 'Sec-GPC': '1' },
        })
        const mailed = () => mail.mails.filter(({ to }) => to.includes(person.email))
        await until('the notification', () => mailed().length > 0)
        expect(mailed().map(({ parsed }) => parsed.subject)).toEqual(['Contact: Ada Lovelace'])
        expect(errors).toEqual([])
        await close()
      },
      60_000,
    )
  },
  { environment },
)
