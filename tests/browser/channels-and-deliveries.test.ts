// Channels and deliveries in a browser: failing notifications, and the keyboard's focus.

import { afterAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { chooseOption, readChoice } from '../support/browser/choose-option.ts'
import { type DashboardWindow, onDashboard } from '../support/browser/dashboard-browser.ts'
import { startWebhookReceiver } from '../support/fake-servers/webhook-receiver.ts'
import { full } from '../support/suite.ts'
import { until } from '../support/until.ts'
import type { SignedUpUser } from '../support/users/sign-up.ts'

const hook = startWebhookReceiver()
afterAll(() => hook.stop())

/** Such as `Test`, or `More for CRM`: the accessible name of what has the focus. */
const readFocus = (page: Page) =>
  page.evaluate<string>(
    `(document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent ?? '').trim()`,
  )
const hasFocus = (page: Page, name: string) =>
  until(`the focus on ${name}`, async () => (await readFocus(page)).startsWith(name))
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
const measureOverflow = (page: Page) =>
  page.evaluate<number>(`Math.max(...[document.documentElement, ...document.querySelectorAll('[role=dialog], [role=dialog] .overflow-y-auto')]
    .map((box) => box.scrollWidth - box.clientWidth))`)

// The first account needs no open sign-up: this server has no mail server.
const environment = { SIGNUP: 'invite', WEBHOOK_ALLOW_CIDRS: '127.0.0.1/32' }
onDashboard(
  'a workspace whose notifications fail',
  (dashboard) => {
    let person: SignedUpUser
    let window: DashboardWindow
    const created = async (path: string, body: object) =>
      (await person.api(path, { method: 'POST', body })).json.data

    test('is told before it types that the server sends no email, and what to do', async () => {
      person = await dashboard().signUp()
      window = await dashboard().openWindow(person)
      const { page, open } = window
      await open('/notifications')
      await page.getByRole('button', { name: 'New channel' }).first().click()
      await page.getByText('Not set up on this server').waitFor()
      await page.getByText('Mattermost, Rocket.Chat', { exact: true }).waitFor()
      await page.getByText('Email', { exact: true }).click()
      const note = await page.getByRole('note').textContent()
      expect(note).toContain('set SMTP_URL')
      expect(note).toContain('ask the person who runs it')
      expect(await page.getByRole('button', { name: 'Create channel' }).isDisabled()).toBe(true)
      await page.getByText('Slack', { exact: true }).click()
      await page.getByLabel('URL').fill('https://example.com/no-hook')
      await press(page, 'Create channel')
      await page
        .getByText('Must be an incoming webhook of Slack (https://hooks.slack.com/services/…)')
        .waitFor()
      await page.getByText('Webhook', { exact: true }).click()
      await page.getByLabel('Name').fill('CRM')
      await page.getByLabel('URL').fill(hook.url)
      await press(page, 'Create channel')
      await press(page, 'I saved it')
      await hasFocus(page, 'More for CRM')
    }, 120_000)

    test('asks which forms use a channel, and says it in the list and on each form', async () => {
      const { page, open } = window
      const [first, second] = [
        await created('/forms', { name: 'Booking' }),
        await created('/forms', { name: 'Newsletter' }),
      ]
      await open(`/forms/${first.formKey}`)
      await page.getByText('Notifies CRM (Webhook).').waitFor()
      await open('/notifications')
      await page.getByText('Used by 2 forms and new ones').waitFor()
      await page.getByRole('button', { name: 'More for CRM' }).click()
      await page.getByRole('menuitem', { name: 'Edit' }).click()
      await page.getByLabel('Chosen forms').check()
      await page.getByLabel('Booking').uncheck()
      await press(page, 'Save')
      await page.getByText('Used by 1 form', { exact: true }).waitFor()
      // Filters name tags and links as people do. Enter in the search saves nothing.
      const link = await created('/links', {
        destinationUrl: 'https://example.com/',
        tagNames: ['VIP', 'Spring'],
      })
      const [channel] = (await person.api('/channels')).json.data
      const openFilters = async () => {
        await page.getByRole('button', { name: 'More for CRM' }).click()
        await page.getByRole('menuitem', { name: 'Edit' }).click()
        await page.getByText('Only some events').click()
      }
      await openFilters()
      await press(page, 'Add a filter')
      await page.getByLabel('Search tags').fill('vi')
      await page.getByLabel('Spring').waitFor({ state: 'detached' })
      await page.getByLabel('Search tags').press('Enter')
      await page.getByLabel('VIP').check()
      await chooseOption(page.getByLabel('Comparison'), 'is none of')
      await press(page, 'Add a filter')
      await page.getByRole('group', { name: 'Links' }).getByRole('checkbox').check()
      await press(page, 'Save')
      const [vip] = link.tags.filter(({ name }: { name: string }) => name === 'VIP')
      const readFilters = async () => (await person.api(`/channels/${channel.id}`)).json.data.filter
      await until('the filters', async () => (await readFilters()) !== null)
      expect(await readFilters()).toEqual({ tagId: `-${vip.id}`, linkId: String(link.id) })
      await openFilters()
      expect(await page.getByLabel('VIP').isChecked()).toBe(true)
      await page.getByRole('button', { name: 'Remove filter' }).first().click()
      await page.getByRole('button', { name: 'Remove filter' }).first().click()
      await press(page, 'Save')
      await until('no filter', async () => (await readFilters()) === null)
      await open(`/forms/${first.formKey}`)
      await page.getByText('Nobody is notified.').waitFor()
      await page.getByRole('link', { name: 'Choose who is notified' }).waitFor()
      for (const { formKey } of [first, second]) await person.api(`/forms/${formKey}`, { method: 'DELETE' })
      await open('/notifications')
    }, 120_000)

    test('sees since when and why on the channel, on its forms and in the sidebar, until it works', async () => {
      const { page, open } = window
      const { data } = (await person.api('/channels')).json
      const form = await created('/forms', { name: 'Contact', channelIds: [data[0].id] })
      hook.respondWith(() => new Response('no room', { status: 503 }))
      await press(page, 'Test')
      await page.getByText('Test failed').waitFor()
      await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click()
      await hasFocus(page, 'Test')
      await page.getByText('HTTP 503: no room.').waitFor()
      await page.getByRole('link', { name: 'Notifications 1 channel not working' }).waitFor()
      await open(`/forms/${form.formKey}`)
      await page.getByRole('heading', { name: 'This form’s notifications aren’t arriving' }).waitFor()
      await page.getByText('HTTP 503: no room.').waitFor()
      await page.getByRole('link', { name: 'CRM', exact: true }).click()
      await page.getByRole('dialog').getByText('HTTP 503: no room.').waitFor()
      await press(page, 'Cancel')
      await hasFocus(page, 'More for CRM')
      hook.respondWith(() => new Response('ok'))
      await press(page, 'Test')
      await page.getByText('Test delivered').waitFor()
      await page.keyboard.press('Escape')
      await page.getByText('HTTP 503: no room.').waitFor({ state: 'detached' })
      await page.getByRole('link', { name: 'Notifications', exact: true }).waitFor()
    }, 120_000)

    test('goes on by keyboard after each action on a channel', async () => {
      const { page, open } = window
      await created('/channels', { type: 'webhook', name: 'Second', url: 'http://10.0.0.1/' })
      await open('/notifications')
      await page.getByText('The operator of this server can allow it with WEBHOOK_ALLOW_CIDRS.').waitFor()
      const choose = async (name: string) => {
        await page.getByRole('button', { name: 'More for Second' }).press('Enter')
        await page.getByRole('menuitem', { name }).click()
      }
      await choose('Turn off')
      await hasFocus(page, 'More for Second')
      await choose('Rotate secret')
      await press(page, 'Rotate secret')
      await press(page, 'I saved it')
      await hasFocus(page, 'More for Second')
      await choose('Edit')
      await page.getByLabel('Name').fill('Second one')
      await page.keyboard.press('Enter')
      await hasFocus(page, 'More for Second one')
      await choose('Delete')
      await hasFocus(page, 'More for CRM')
    }, 120_000)

    test('reads on a phone, by keyboard, who sent what, what was sent and what came back', async () => {
      const { page, open, errors } = window
      const [form] = (await person.api('/forms')).json.data
      hook.respondWith(() => new Response('please no', { status: 422 }))
      const body = { email: 'ada@example.com', message: 'Hello' }
      const sent = await dashboard().server.call(`/f/${form.formKey}`, { method: 'POST', body })
      expect(sent.status).toBe(200)
      await until(
        'the refusal',
        async () => (await person.api('/deliveries')).json.data[0].lastError !== null,
      )
      await page.setViewportSize({ width: 360, height: 740 })
      await open(`/notifications/deliveries?formKey=${form.formKey}`)
      const card = page.getByRole('listitem').filter({ hasText: 'ada@example.com' })
      await card.getByText('HTTP 422: please no').waitFor()
      expect(await card.textContent()).toMatch(/Contact[\s\S]*CRM[\s\S]*\d attempts?/)
      expect(await measureOverflow(page)).toBeLessThanOrEqual(0)
      expect(await readChoice(page.getByLabel('Form'))).toBe('Contact')
      await card.getByRole('link').press('Enter')
      const drawer = page.getByRole('dialog')
      await drawer.getByText('"email":"ada@example.com"').waitFor()
      await drawer.getByText('Headers').press('Enter')
      await drawer.getByText('webhook-signature').waitFor()
      const report = await drawer.textContent()
      for (const text of ['Contact', 'CRM', `POST ${hook.url}`, '(hidden)', 'please no', 'HTTP 422'])
        expect(report).toContain(text)
      expect(await measureOverflow(page)).toBeLessThanOrEqual(0)
      hook.respondWith(() => new Response('ok'))
      await press(page, 'Retry now')
      await drawer.getByText('Delivered').first().waitFor()
      await page.keyboard.press('Escape')
      await hasFocus(page, 'ada@example.com')
      // The test of the channel has failed too.
      const retryAll = page.getByRole('button', { name: 'Retry failed' })
      await retryAll.waitFor()
      await dashboard().server.app.db.write((connection) =>
        connection.updateTable('deliveries').set({ status: 'delivered' }).execute(),
      )
      await retryAll.waitFor({ state: 'detached' })
      expect(errors.filter((error) => !error.includes('422'))).toEqual([])
    }, 120_000)

    full(
      'asks for nothing more while the page is hidden',
      async () => {
        await window.close()
        const { page, open } = await dashboard().openWindow(person, { inNewProfile: true })
        await page.clock.install()
        await open('/notifications/deliveries')
        let asked = 0
        page.on('request', (request) => {
          if (/\/v1\/(deliveries|channels)/.test(request.url())) asked++
        })
        await page.clock.fastForward(6_000)
        await until('a poll', () => asked > 0)
        const show = (state: string) =>
          page.evaluate(`Object.defineProperty(document, 'visibilityState', { get: () => '${state}', configurable: true })
          document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`)
        await show('hidden')
        await page.waitForLoadState('networkidle')
        asked = 0
        await page.clock.runFor(120_000)
        expect(asked).toBe(0)
        await show('visible')
        await page.clock.fastForward(6_000)
        await until('a poll', () => asked > 0)
      },
      120_000,
    )
  },
  { environment },
)
