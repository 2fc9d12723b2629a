// The inbox in a real browser: what its rows say, changes of many submissions, Undo, the unread count, and where the focus
// goes.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import {
  insertSubmissions,
  type TestSubmission,
} from '../../server/features/forms/submissions/submission.fixture.ts'
import { type DashboardWindow, onDashboard } from '../support/browser/dashboard-browser.ts'
import { until } from '../support/until.ts'
import type { SignedUpUser } from '../support/users/sign-up.ts'

const COUNT = 120
const DESKTOP = { width: 1440, height: 900 }
const PHONE = { width: 360, height: 740 }

/** The name of the sender whose row has the focus; the empty text when another element has it. */
const findFocusedSender = (page: Page) =>
  page.evaluate<string>(
    `document.activeElement.closest('#inbox-list li')?.querySelector('input')?.getAttribute('aria-label').replace('Select ', '') ?? ''`,
  )

onDashboard('the inbox', (dashboard) => {
  let person: SignedUpUser
  let window: DashboardWindow
  let ids: number[]
  let page: Page
  let store: (...submissions: TestSubmission[]) => Promise<number[]>

  beforeAll(async () => {
    person = await dashboard().signUp()
    const post = async (path: string, body: object) =>
      (await person.api(path, { method: 'POST', body })).json.data
    const { formKey } = await post('/forms', { name: 'Contact us' })
    const link = await post('/links', { destinationUrl: 'https://example.com/', slug: 'spring-sale' })
    const { db } = dashboard().server.app
    const { id: formId } = await db.read
      .selectFrom('forms')
      .select('id')
      .where('form_key', '=', formKey)
      .executeTakeFirstOrThrow()
    store = (...submissions) =>
      db.write((connection) =>
        insertSubmissions(connection, { workspaceId: person.workspaceId, formId }, submissions),
      )
    const at = Date.now() - 3_600_000
    ids = await store(
      ...Array.from(
        { length: COUNT },
        (_, n): TestSubmission => ({
          fields: [
            ['name', `Sender ${COUNT - n}`],
            ['message', `Question ${COUNT - n}`],
          ],
          created_at: at + n * 1000,
          ...(n === COUNT - 1 ? { link_id: link.id, attribution: 'inferred' } : {}),
        }),
      ),
    )
    // Sender 1 is the newest.
    ids.reverse()
    window = await dashboard().openWindow(person, { viewport: DESKTOP })
    page = window.page
    page.setDefaultTimeout(8000)
  })
  afterAll(() => window?.close())

  const countStatus = async (status: string) =>
    (await person.api(`/submissions?status=${status}&limit=1`)).json.total as number
  const untilStatus = (status: string, count: number) =>
    until(`${count} submissions that are ${status}`, async () => (await countStatus(status)) === count)
  const setAll = async (status: string) => {
    for (const part of [ids.slice(0, 100), ids.slice(100)])
      await person.api('/submissions/bulk', { method: 'PATCH', body: { ids: part, status } })
  }
  const bar = () => page.getByRole('toolbar', { name: 'Selected submissions' })
  const row = (n: number) => page.locator(`#submission-${ids[n - 1]}`)
  const box = (n: number) => page.locator(`label[for=select-${ids[n - 1]}]`)
  const untilFocused = (n: number) =>
    until(`the focus on row ${n}`, async () => (await findFocusedSender(page)) === `Sender ${n}`)

  test('says which form and which link brought each submission, and how many are unread', async () => {
    await window.open('/inbox')
    expect(await row(1).textContent()).toContain('Contact us')
    expect(await row(1).textContent()).toContain('/spring-sale (inferred)')
    const inboxLink = page.getByRole('navigation', { name: 'Workspace' }).getByRole('link', { name: 'Inbox' })
    await inboxLink.getByText('99+').waitFor()
    expect(await page.title()).toBe('(99+) Inbox · Towpath')
    // Somebody else reads most of them: the page learns of it by polling.
    await setAll('read')
    await person.api('/submissions/bulk', { method: 'PATCH', body: { ids: ids.slice(5, 8), status: 'new' } })
    await inboxLink.getByText('3 unread').waitFor()
    expect(await page.title()).toBe('(3) Inbox · Towpath')
    await window.open('/inbox?status=new')
    await row(6).focus()
    await page.keyboard.press('e')
    await inboxLink.getByText('2 unread').waitFor()
    await untilFocused(7)
  }, 60_000)

  test('selects submissions by key and by click, and changes all that match the filter', async () => {
    await setAll('new')
    await window.open('/inbox')
    await row(2).focus()
    await page.keyboard.press('x')
    await bar().getByText(`1 of ${COUNT} selected`).waitFor()
    await page.keyboard.press('J')
    await page.keyboard.press('Shift+ArrowDown')
    await bar().getByText(`3 of ${COUNT} selected`).waitFor()
    await untilFocused(4)
    await page.keyboard.press('K')
    await bar().getByText(`2 of ${COUNT} selected`).waitFor()
    await box(9).click({ modifiers: ['Shift'] })
    await bar().getByText(`8 of ${COUNT} selected`).waitFor()
    await box(5).click()
    await bar().getByText(`7 of ${COUNT} selected`).waitFor()
    await row(6).click({ modifiers: ['Shift'] })
    await page.keyboard.press('Escape')
    await bar().waitFor({ state: 'detached' })
    await untilFocused(6)
    await page.keyboard.press('ControlOrMeta+a')
    await bar().getByText(`50 of ${COUNT} selected`).waitFor()
    await bar()
      .getByRole('button', { name: `Select all ${COUNT}` })
      .click()
    await bar().getByText(`${COUNT} of ${COUNT} selected`).waitFor()
    await bar().getByRole('button', { name: 'Archive' }).click()
    await untilStatus('archived', COUNT)
    await page.keyboard.press('z')
    await page.getByText('Undone').waitFor()
    await untilStatus('new', COUNT)
    await row(1).waitFor()
  }, 60_000)

  test('deletes many with Undo, and deletes them for good when the person leaves', async () => {
    await window.open('/inbox')
    await row(3).focus()
    for (const key of ['x', 'J', '#']) await page.keyboard.press(key)
    await page.getByText('2 submissions deleted').waitFor()
    await row(4).waitFor({ state: 'detached' })
    await untilFocused(5)
    // Undo works on every page.
    await page.keyboard.press('g')
    await page.keyboard.press('f')
    await page.getByRole('heading', { name: 'Forms' }).waitFor()
    await page.keyboard.press('z')
    await page.getByText('Undone').waitFor()
    expect(await countStatus('new')).toBe(COUNT)
    await page.keyboard.press('g')
    await page.keyboard.press('i')
    await row(4).waitFor()
    await row(1).focus()
    for (const key of ['x', 'J', '#']) await page.keyboard.press(key)
    await page.keyboard.press('g')
    await page.keyboard.press('f')
    await page.getByRole('heading', { name: 'Forms' }).waitFor()
    expect(await countStatus('new')).toBe(COUNT)
    await page.goto('about:blank')
    await untilStatus('new', COUNT - 2)
    expect(window.errors).toEqual([])
  }, 60_000)
})
