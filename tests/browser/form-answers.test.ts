// The second part of forms in the dashboard: settings that come back, files, spam that is restored, double opt-in, and the
// erasure of a person.

import { afterAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { htmlExample } from '../../dashboard/pages/forms/form-examples.ts'
import type { FormResource } from '../../server/features/forms/schema.ts'
import { chooseOption } from '../support/browser/choose-option.ts'
import { onDashboard } from '../support/browser/dashboard-browser.ts'
import { startMailServer } from '../support/fake-servers/mail-server.ts'
import { startWebhookReceiver } from '../support/fake-servers/webhook-receiver.ts'
import { full } from '../support/suite.ts'
import { until } from '../support/until.ts'
import type { SignedUpUser } from '../support/users/sign-up.ts'

const mail = await startMailServer()
const hook = startWebhookReceiver()
/** The customer's pages, by path. */
const pages = new Map<string, string>()
const site = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: (request) =>
    new Response(pages.get(new URL(request.url).pathname), { headers: { 'Content-Type': 'text/html' } }),
})
afterAll(async () => {
  await site.stop(true)
  await mail.stop()
  hook.stop()
})

/** A toast covers no button here. */
const TALL = { viewport: { width: 1280, height: 1400 } }

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()

async function create<T>(person: SignedUpUser, path: string, body: object): Promise<T> {
  const { status, text, json } = await person.api(path, { method: 'POST', body })
  if (status !== 201) throw new Error(`${path}: ${status} ${text}`)
  return json.data
}
const createForm = (person: SignedUpUser, settings: object) =>
  create<FormResource>(person, '/forms', { name: 'Contact', afterSubmit: 'hosted', ...settings })
const createHook = (person: SignedUpUser) =>
  create<{ id: number }>(person, '/channels', { type: 'webhook', name: 'CRM', url: hook.url })

const environment = {
  SMTP_URL: mail.url(),
  MAIL_FROM: 'Towpath <go@towpath.example>',
  WEBHOOK_ALLOW_CIDRS: '127.0.0.1/32',
}
onDashboard(
  'what forms accept and answer',
  (dashboard) => {
    const send = (form: FormResource, fields: Record<string, string>) =>
      dashboard().server.call(`/f/${form.formKey}`, {
        method: 'POST',
        body: fields,
        // No link is searched for, so that the test needs no analytics.
        headers: { 'Sec-GPC': '1' },
      })

    test('settings are saved and come back, and an error of the API stands at its control', async () => {
      const person = await dashboard().signUp()
      const form = await createForm(person, {})
      const { page, open, errors, close } = await dashboard().openWindow(person, TALL)
      const turnTo = (name: string) => page.getByRole('link', { name }).click()
      await open(`/forms/${form.formKey}?tab=settings&page=fields`)
      await page.getByLabel('Add rules for the field').fill('phone')
      await page.keyboard.press('Enter')
      await chooseOption(page.getByLabel('Type'), 'Phone number')
      await page.getByLabel('Pattern', { exact: true }).fill('(')
      await chooseOption(page.getByLabel('Language', { exact: true }), 'German')
      const empty = page.getByLabel('Empty', { exact: true })
      await until('the built-in text', async () =>
        (await empty.getAttribute('placeholder'))?.startsWith('Dieses Feld'),
      )
      await empty.fill('Bitte ausfüllen')
      await turnTo('Files')
      await page.getByLabel('Accept files').check()
      await press(page, 'Accept Images')
      await page.getByLabel('Max file size').fill('2.5')
      await turnTo('Spam')
      await page.getByLabel('Blocked words').fill('casino')
      await page.keyboard.press('Enter')
      await turnTo('Email')
      await page.getByLabel('Send an auto-reply').check()
      await page.getByLabel('Double opt-in').check()
      await page.getByText('/f/confirm/…').waitFor()
      await turnTo('Privacy')
      await page.getByLabel('Record consent').check()
      await page.getByLabel('Text beside it').fill('I agree.')
      await page.getByLabel('Erase automatically').check()
      await press(page, 'Save')
      // The error is on another page, which opens.
      const pattern = page.getByLabel('Pattern', { exact: true })
      await until('an error', async () => (await pattern.getAttribute('aria-invalid')) === 'true')
      await page.getByRole('link', { name: /Fields\s*: has an error/ }).waitFor()
      await until('the focus', async () => (await page.evaluate('document.activeElement.value')) === '(')
      await pattern.fill('\\+[0-9 ]+')
      await page.getByLabel('Try the pattern').fill('0171')
      await page.getByText('The value is rejected.').waitFor()
      await page.getByLabel('Try the pattern').fill('+49 171')
      await page.getByText('The value is accepted.').waitFor()
      await press(page, 'Save')
      await page.getByText('All changes saved').waitFor()
      expect((await person.api(`/forms/${form.formKey}`)).json.data).toMatchObject({
        rules: { phone: { type: 'tel', pattern: '\\+[0-9 ]+' } },
        messages: { de: { required: 'Bitte ausfüllen' } },
        uploads: { maxFiles: 5, maxBytes: 2.5 * 1024 * 1024, accept: ['image/*'] },
        reply: { subject: 'Thank you for your message', confirm: true },
        spam: { words: ['casino'], maxLinks: null, learn: false },
        consent: { field: 'consent', text: 'I agree.' },
        retentionDays: 365,
      })
      // Addresses of earlier versions named the box of the settings.
      await open(`/forms/${form.formKey}?tab=settings#messages`)
      await page.getByText('Phone number · pattern').waitFor()
      expect(await page.getByLabel('Empty', { exact: true }).inputValue()).toBe('Bitte ausfüllen')
      await turnTo('Files')
      expect(await page.getByLabel('Max file size').inputValue()).toBe('2.5')
      await turnTo('Email')
      expect(await page.getByLabel('Double opt-in').isChecked()).toBe(true)
      await page.getByText('All changes saved').waitFor()
      expect(errors.filter((text) => !text.includes('422'))).toEqual([])
      await close()
    }, 120_000)

    test('a file that was sent from a page is listed, shown and downloaded as it was', async () => {
      const person = await dashboard().signUp()
      const form = await createForm(person, {
        uploads: {},
        consent: { field: 'terms', text: 'I accept the terms.' },
      })
      pages.set('/contact', `<!doctype html><title>Contact</title>${htmlExample(form)}`)
      const { page, open, errors, close } = await dashboard().openWindow(person, TALL)
      await page.goto(new URL('/contact', site.url).href)
      await page.fill('[name=email]', 'ada@example.com')
      const text = '<script>alert(1)</script> Grüße'
      await page.setInputFiles('[name=file]', [
        { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from(text) },
        { name: 'a.bin', mimeType: 'application/octet-stream', buffer: Buffer.from([0, 1, 2, 255]) },
      ])
      await page.check('[name=terms]')
      await page.click('button')
      await page.waitForURL('**/thanks')
      await open('/inbox')
      await page
        .locator('#inbox-list')
        .getByRole('link', { name: /ada@example\.com/ })
        .click()
      await page.getByText('Agreed to “I accept the terms.”').waitFor()
      await page.getByText('2 files').waitFor()
      await press(page, 'Preview notes.txt')
      await page.getByRole('dialog').getByText(text).waitFor()
      await page.keyboard.press('Escape')
      expect(await page.getByRole('button', { name: 'Preview a.bin' }).count()).toBe(0)
      const save = async (name: string) => {
        const [download] = await Promise.all([page.waitForEvent('download'), press(page, name)])
        return { name: download.suggestedFilename(), bytes: await Bun.file(await download.path()).bytes() }
      }
      expect(await save('Download a.bin')).toEqual({ name: 'a.bin', bytes: new Uint8Array([0, 1, 2, 255]) })
      const zip = await save('Download all')
      expect(zip.name).toMatch(/^submission-\d+-files\.zip$/)
      expect(new TextDecoder().decode(zip.bytes.slice(0, 2))).toBe('PK')
      expect(errors).toEqual([])
      await close()
    }, 120_000)

    test('spam says why it is spam; restored, it notifies the team, and its sender is allowed for ever', async () => {
      const person = await dashboard().signUp()
      const { id: channelId } = await createHook(person)
      const form = await createForm(person, { spam: { words: ['casino'] }, channelIds: [channelId] })
      await send(form, { email: 'ada@example.com', message: 'The casino is nice' })
      await send(form, { email: 'bob@example.com', message: 'A casino too' })
      const { page, open, errors, close } = await dashboard().openWindow(person, TALL)
      await open('/inbox')
      await page.getByRole('heading', { name: 'Your inbox is empty' }).waitFor()
      await page.getByRole('link', { name: 'Spam', exact: true }).click()
      await page.getByRole('link', { name: /ada@example\.com/ }).click()
      await page.getByText(/The word "casino"/).waitFor()
      expect((await person.api('/deliveries')).json.total).toBe(0)
      await press(page, 'Not spam')
      await page.getByText('Submission restored. Your team gets the notifications').waitFor()
      await until('the notification', async () => (await person.api('/deliveries')).json.total === 1)
      await page.getByRole('link', { name: /bob@example\.com/ }).click()
      await press(page, 'Always allow this sender')
      await until('the second notification', async () => (await person.api('/deliveries')).json.total === 2)
      const again = await send(form, { email: 'bob@example.com', message: 'Again a casino' })
      expect(again.status).toBe(200)
      await page.getByRole('link', { name: 'Unread', exact: false }).first().click()
      await page.getByText('Again a casino').first().waitFor()
      await open(`/forms/${form.formKey}?tab=settings&page=spam`)
      await press(page, 'No longer always allow bob@example.com')
      await page.getByText('bob@example.com').waitFor({ state: 'detached' })
      await page.getByRole('link', { name: 'Submission report' }).click()
      await page.getByText('Stored as spam').waitFor()
      expect(errors).toEqual([])
      await close()
    }, 120_000)

    full(
      'double opt-in: a submission waits until its sender or a person of the team confirms it',
      async () => {
        const person = await dashboard().signUp()
        const form = await createForm(person, {
          reply: { subject: 'Please confirm', text: 'Hello {{name}}', confirm: true },
        })
        await send(form, { name: 'Ada', email: 'ada@example.com' })
        await send(form, { name: 'Bob', email: 'bob@example.com' })
        const { page, open, errors, close } = await dashboard().openWindow(person, TALL)
        await open('/inbox?status=unconfirmed')
        await page.getByRole('link', { name: /Bob/ }).click()
        await page.getByText('The sender hasn’t pressed the button').waitFor()
        await press(page, 'Confirm manually')
        await page.getByText('Submission restored.').waitFor()
        const findMail = () => mail.mails.find(({ to }) => to.includes('ada@example.com'))
        await until('the mail', () => findMail() !== undefined)
        const link = /http\S+\/f\/confirm\/\S+/.exec(findMail()?.parsed.text ?? '')?.[0] ?? ''
        const visitor = await page.context().newPage()
        await visitor.goto(link)
        await visitor.click('button')
        // Closing a page waits for ever when Chromium is just loading the next one.
        await visitor.getByRole('heading', { name: 'Thank you' }).waitFor()
        await visitor.close()
        await page.getByRole('heading', { name: 'Nothing to confirm' }).waitFor()
        await page.getByRole('link', { name: 'Inbox', exact: true }).last().click()
        await page.getByRole('link', { name: /Ada/ }).waitFor()
        await page.getByRole('link', { name: /Bob/ }).waitFor()
        await open('/notifications/deliveries')
        await page.getByRole('link', { name: 'Confirmation link to ada@example.com' }).click()
        await page.getByRole('dialog').getByText('Form sender').waitFor()
        expect(errors).toEqual([])
        await close()
      },
      120_000,
    )

    full(
      'the data of a person is exported and erased, and the receipt stays',
      async () => {
        const person = await dashboard().signUp()
        const form = await createForm(person, {})
        await send(form, { email: 'ada@example.com', message: 'Hello' })
        const { page, open, errors, close } = await dashboard().openWindow(person, TALL)
        await open('/settings?tab=erasures')
        await page.getByRole('heading', { name: 'No erasures yet' }).waitFor()
        await press(page, 'Export personal data')
        await page.getByLabel('Email address').fill('Ada@example.com')
        const [download] = await Promise.all([page.waitForEvent('download'), press(page, 'Download')])
        expect(download.suggestedFilename()).toEndWith('.zip')
        await press(page, 'Erase personal data')
        await page.getByLabel('Email address').fill('ada@example.com')
        await press(page, 'Find submissions')
        await page.getByLabel('Type ada@example.com to confirm').fill('ada@example.com')
        await press(page, 'Erase permanently')
        await page.getByRole('heading', { name: 'The data is erased' }).waitFor()
        const [receipt] = await Promise.all([page.waitForEvent('download'), press(page, 'Save the receipt')])
        const saved = await Bun.file(await receipt.path()).text()
        expect(JSON.parse(saved)).toMatchObject({ submissions: 1, files: 0 })
        expect(saved).not.toContain('ada@')
        await page.keyboard.press('Escape')
        await page.getByText('1 submission · 0 files').waitFor()
        expect((await person.api('/submissions')).json.total).toBe(0)
        expect(errors).toEqual([])
        await close()
      },
      120_000,
    )

    full(
      'the template of a channel is shown with values before it is saved, and a wrong one is refused',
      async () => {
        const person = await dashboard().signUp()
        const channel = await create<{ id: number }>(person, '/channels', {
          type: 'email',
          name: 'Team',
          to: ['team@example.com'],
        })
        const form = await createForm(person, { channelIds: [channel.id] })
        await send(form, { name: 'Ada', message: 'Hello' })
        const { page, open, errors, close } = await dashboard().openWindow(person, TALL)
        await open(`/notifications?edit=${channel.id}`)
        await page.getByText('Text of the messages').click()
        await page.getByLabel('Write your own').check()
        const text = page.getByLabel('Text', { exact: true })
        await text.fill('From {{field:name}} {{oops}}')
        await press(page, 'Preview')
        await page.getByRole('alert').getByText('oops').waitFor()
        await text.fill('From {{field:name}}: ')
        await press(page, '{{field:message}}')
        // A frame later the text has the cursor.
        await page.locator('textarea:focus').waitFor()
        await page.getByLabel('Subject').fill('New: {{form}}')
        await press(page, 'Preview')
        await page.getByText('New: Contact').waitFor()
        await page.getByText('From Ada: Hello').waitFor()
        await page.getByText('When they are sent').click()
        await chooseOption(page.getByLabel('Messages'), 'Every day')
        await page.getByLabel('Quiet hours').check()
        await press(page, 'Save')
        await page.getByRole('dialog').waitFor({ state: 'detached' })
        const { data } = (await person.api(`/channels/${channel.id}`)).json
        expect(data).toMatchObject({
          template: { subject: 'New: {{form}}', text: 'From {{field:name}}: {{field:message}}' },
          digest: 'day',
          quietHours: { start: '22:00', end: '07:00', timezone: 'Europe/Berlin' },
        })
        await createHook(person)
        await open('/notifications')
        await press(page, 'More for CRM')
        await page.getByRole('menuitem', { name: 'Edit' }).click()
        await page.getByRole('dialog').getByLabel('Name').waitFor()
        expect(await page.getByText('Text of the messages').count()).toBe(0)
        expect(errors.filter((each) => !each.includes('422'))).toEqual([])
        await close()
      },
      120_000,
    )
  },
  { environment },
)
