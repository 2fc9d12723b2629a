// The team in the inbox: the first submission open and unread, its labels and files, an assignee, a stage, and a reply with a
// template.

import { afterAll, expect, test } from 'bun:test'
import { chooseOption } from '../support/browser/choose-option.ts'
import { onDashboard } from '../support/browser/dashboard-browser.ts'
import { startMailServer } from '../support/fake-servers/mail-server.ts'
import { makePng } from '../support/make-png.ts'
import { until } from '../support/until.ts'
import { BROWSER_USER_AGENT } from '../support/world.ts'

const mail = await startMailServer()
afterAll(() => mail.stop())

const DESKTOP = { width: 1440, height: 900 }
const PHONE = { width: 390, height: 844 }

onDashboard(
  'the inbox of a team',
  (dashboard) => {
    test('opens the first submission unread, assigns it, and replies to its sender', async () => {
      const { server } = dashboard()
      const person = await dashboard().signUp()
      const created = await person.api('/forms', {
        method: 'POST',
        body: {
          name: 'Repairs',
          uploads: { maxFiles: 2, maxBytes: 1_000_000, accept: [] },
          fieldLabels: { photo: 'A photo of it' },
          replyTemplates: [{ name: 'Thanks', subject: 'Your {{order}}', text: 'Hi {{first_name}}, thanks' }],
        },
      })
      const { formKey } = created.json.data
      const body = new FormData()
      for (const [name, value] of [
        ['first_name', 'Ada'],
        ['order', 'LC-1'],
        ['email', 'ada@example.com'],
        ['message', 'The burrs are worn out'],
      ] as [string, string][])
        body.append(name, value)
      body.append('photo', new Blob([makePng()], { type: 'image/png' }), 'photo.png')
      body.append('photo', new Blob(['text']), 'notes.txt')
      const headers = { Accept: 'application/json', 'User-Agent': BROWSER_USER_AGENT }
      const sent = await fetch(`${server.origin}/f/${formKey}`, { method: 'POST', body, headers })
      expect(await sent.json()).toEqual(expect.objectContaining({ ok: true }))
      const read = async () => (await person.api('/submissions')).json.data[0]

      const { page, open, close, errors } = await dashboard().openWindow(person, { viewport: DESKTOP })
      page.setDefaultTimeout(10_000)
      await open('/inbox')
      const reader = page.getByRole('region', { name: 'Open submission' })
      for (const text of ['First name', 'A photo of it', 'The burrs are worn out', 'notes.txt'])
        await reader.getByText(text, { exact: true }).first().waitFor()
      const picture = reader.locator('img')
      await picture.waitFor()
      await until('the picture', () =>
        page.evaluate<boolean>(`document.querySelector('article img').naturalWidth > 0`),
      )
      expect(await picture.count()).toBe(1)
      // Longer than a person who has opened it looks at it.
      await page.waitForTimeout(1500)
      expect([(await read()).status, new URL(page.url()).search]).toEqual(['new', ''])

      await chooseOption(reader.getByLabel('Assignee'), /^(?!Nobody)/)
      await until('the assignee', async () => (await read()).assigneeId !== null)
      await until('it to be read', async () => (await read()).status === 'read')
      await page.locator('#inbox-list').getByText('Assignee:').waitFor({ state: 'attached' })

      // In a list, a letter finds an option.
      await page.locator('#inbox-list a').first().focus()
      await page.keyboard.press('m')
      const dialog = page.getByRole('dialog', { name: 'Reply' })
      expect(await dialog.getByLabel('Message').inputValue()).toContain('> The burrs are worn out')
      await chooseOption(dialog.getByLabel('Template'), 'Thanks')
      expect(await dialog.getByLabel('Subject').inputValue()).toBe('Your LC-1')
      await dialog.getByRole('button', { name: 'Send reply' }).click()
      await reader.getByRole('region', { name: 'Replies' }).getByText('Hi Ada, thanks').waitFor()
      await reader.getByRole('region', { name: 'Replies' }).getByText('Sent', { exact: true }).waitFor()
      const [email] = mail.mails.filter(({ parsed }) => parsed.subject === 'Your LC-1')
      expect(email?.to).toEqual(['ada@example.com'])
      await until('the stage', async () => (await read()).outcomes[0]?.stage === 'contacted')

      await open('/inbox?stage=contacted&assignee=none')
      await page.getByText('No matches').waitFor()
      await page.setViewportSize(PHONE)
      await open('/inbox')
      await page.locator('#inbox-list a').first().waitFor()
      expect(await reader.isVisible()).toBe(false)
      expect(errors).toEqual([])
      await close()
    }, 90_000)
  },
  { environment: { SMTP_URL: mail.url(), MAIL_FROM: 'go@towpath.example' } },
)
