// Double opt-in in a real browser: from the form to the mail, its link, the button, and back to the page.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { onCustomerSite } from '../support/browser/customer-site.ts'
import { startMailServer } from '../support/fake-servers/mail-server.ts'
import { findFreePort } from '../support/processes/free-port.ts'
import { until } from '../support/until.ts'

const port = findFreePort()
let mail: Awaited<ReturnType<typeof startMailServer>>
beforeAll(async () => {
  mail = await startMailServer({ port })
})
afterAll(() => mail?.stop())

onCustomerSite(
  'double opt-in',
  (site) => {
    test('takes the sender from the mail to a button, and then back to the page', async () => {
      const { createWorkspace, addPage, openVisitor, server } = site()
      const ws = await createWorkspace()
      const url = addPage('<h1>Our newsletter</h1>')
      const form = await ws.createForm({
        name: 'Newsletter',
        pageUrl: url,
        afterSubmit: 'hosted',
        successMessage: 'Look into your inbox, if you have not yet.',
        reply: { subject: 'Please confirm', text: 'Welcome, {{name}}. Press:\n{{confirm}}', confirm: true },
      })
      const formPage =
        addPage(`<form action="${form.endpoint}" method="post"><input name="email"><input name="name">
        <button>Subscribe</button></form>`)
      const { page, context, errors, close } = await openVisitor()
      await page.goto(formPage)
      await page.fill('[name=email]', 'ada@example.com')
      await page.fill('[name=name]', 'Ada')
      await page.click('button')
      await page.waitForURL(`${server.origin}/f/${form.key}/thanks`)
      await until('the mail', () => mail.mails.length === 1)
      const [link = ''] = /http\S+/.exec(mail.mails[0]?.parsed.text ?? '') ?? []
      expect(link).toStartWith(`${server.origin}/f/confirm/`)
      await page.goto(link)
      expect(await page.textContent('h1')).toBe('Confirm your submission')
      expect(await page.textContent('.message')).toBe('Newsletter')
      const status = async () => (await ws.listSubmissions(form.key))[0]?.status
      expect(await status()).toBe('unconfirmed')
      // The button works from the keyboard, and without JavaScript.
      await page.keyboard.press('Tab')
      await page.keyboard.press('Enter')
      await page.locator('h1', { hasText: 'Thank you' }).waitFor()
      expect(await page.textContent('.message')).toBe('Look into your inbox, if you have not yet.')
      expect(await status()).toBe('new')
      await page.reload()
      expect(await status()).toBe('new')
      await page.click('a')
      await page.waitForURL(url)
      expect(await context.cookies()).toEqual([])
      expect(errors).toEqual([])
      await close()
    })

    test('shows the page to stop the mails', async () => {
      const { openVisitor } = site()
      const [stop = ''] = /(?<=List-Unsubscribe:\s+<)[^>]+/.exec(mail.mails[0]?.raw ?? '') ?? []
      const { page, close } = await openVisitor()
      await page.goto(stop)
      await page.click('button')
      await page.locator('h1', { hasText: 'Emails are stopped' }).waitFor()
      await close()
    })
  },
  { environment: { SMTP_URL: `smtp://127.0.0.1:${port}`, MAIL_FROM: 'go@towpath.example' } },
)
