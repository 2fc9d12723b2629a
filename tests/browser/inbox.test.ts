// The inbox in a real browser: its rows, changes of many submissions, Undo, the unread count, and the focus.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import {
  insertSubmissions,
  type TestSubmission,
} from '../../server/features/forms/submissions/submission.fixture.ts'
import { findBarriers } from '../support/browser/accessibility.ts'
import { type DashboardWindow, onDashboard } from '../support/browser/dashboard-browser.ts'
import { full } from '../support/suite.ts'
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

/** The buttons, rows and fields of the page that a notice covers. The phone's top bar lends it the workspace's name. */
const LIST_COVERED = `(() => {
  const notice = document.querySelector('[data-toast]').getBoundingClientRect()
  return [...document.querySelectorAll('a, button, input, #inbox-list li, [role=toolbar]')]
    .filter((element) => !element.closest('[data-toast]') && !element.getAttribute('aria-label')?.startsWith('Workspace'))
    .filter((element) => {
      const box = element.getBoundingClientRect()
      const isSeen = element.checkVisibility() && box.width > 1 && element.contains(document.elementFromPoint(
        Math.min(Math.max(box.left + box.width / 2, 1), innerWidth - 1), Math.min(Math.max(box.top + box.height / 2, 1), innerHeight - 1)))
      return isSeen && box.left < notice.right && box.right > notice.left && box.top < notice.bottom && box.bottom > notice.top
    })
    .map((element) => element.outerHTML.slice(0, 100))
})()`

/** The pixels by which the page, the list or its bar is wider than its place. */
const MEASURE_OVERFLOW = `Math.max(...[document.documentElement, ...document.querySelectorAll('main section, [role=toolbar]')]
  .map((box) => box.scrollWidth - box.clientWidth))`

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
    const at = dashboard().server.now() - 3_600_000
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
  /** Sets the status of all submissions that are not deleted. */
  const setAll = async (status: string) => {
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { json } = await person.api(`/submissions?limit=100${cursor && `&cursor=${cursor}`}`)
      const part = json.data.map(({ id }: { id: number }) => id)
      const body = { ids: part, status }
      expect((await person.api('/submissions/bulk', { method: 'PATCH', body })).status).toBe(200)
      cursor = json.nextCursor
    }
  }
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click()
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
    // Notes are saved while one types.
    await window.open(`/inbox?open=${ids[0]}`)
    await page.getByLabel('Notes').fill('Called back')
    await page.getByRole('status').getByText('Saved', { exact: true }).waitFor()
    const { notes } = (await person.api(`/submissions/${ids[0]}`)).json.data
    expect(notes).toBe('Called back')
  }, 60_000)

  test('filters by days, and says so over the whole page where nothing is left', async () => {
    await window.open('/inbox')
    const time = page.getByRole('button', { name: /^Period/ })
    await press('Filters')
    await time.click()
    await press('Last 7 days')
    await page.getByRole('button', { name: 'Period Last 7 days' }).waitFor()
    await row(1).waitFor()
    await time.click()
    const days = page.getByRole('dialog', { name: 'Period' })
    for (const field of ['From', 'To']) await days.getByLabel(field).fill('2020-02-29')
    expect(await findBarriers(page, '[role=dialog]')).toEqual([])
    await press('Apply')
    await page.getByRole('heading', { name: 'No matches' }).waitFor()
    expect(await page.getByRole('region', { name: 'Open submission' }).count()).toBe(0)
    await press('Clear filters')
    await row(1).waitFor()
    await page.getByRole('button', { name: 'Period Any time' }).waitFor()
    expect(await page.getByRole('region', { name: 'Open submission' }).count()).toBe(1)
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

  full(
    'keeps the focus and its place: after a change, after a dialog, and when new submissions come',
    async () => {
      await setAll('read')
      await window.open('/inbox')
      const reader = page.getByRole('region', { name: 'Open submission' })
      await row(10).click()
      await reader.getByRole('button', { name: 'Archive' }).click()
      await untilFocused(11)
      await reader.getByRole('heading', { name: 'Sender 11' }).waitFor()
      await page.keyboard.press('Escape')
      await page.getByText('Select a submission to read it.').waitFor()
      expect(await findFocusedSender(page)).toBe('Sender 11')

      const more = page.getByRole('button', { name: 'More', exact: true })
      await more.click()
      await page.getByRole('menuitem', { name: 'Export submissions' }).click()
      await page.getByRole('dialog', { name: 'Export submissions' }).waitFor()
      await page.keyboard.press('Escape')
      await until('the focus on the button that opened the menu', () =>
        page.evaluate<boolean>(`document.activeElement.getAttribute('aria-label') === 'More'`),
      )

      await row(30).click()
      await page.evaluate(`document.activeElement.scrollIntoView({ block: 'center' })`)
      const place = await row(30).boundingBox()
      await store({ fields: [['name', 'Newcomer']], created_at: dashboard().server.now() })
      await page.getByRole('button', { name: '1 new' }).waitFor()
      expect(await row(30).boundingBox()).toEqual(place)
      expect(await findFocusedSender(page)).toBe('Sender 30')
      await reader.getByRole('heading', { name: 'Sender 30' }).waitFor()
    },
    60_000,
  )

  full.each([DESKTOP, PHONE])(
    'shows what can be undone beside the list and the buttons, as long as it is looked at: %p',
    async (viewport) => {
      await setAll('new')
      const own = await dashboard().openWindow(person, { viewport, inNewProfile: true })
      own.page.setDefaultTimeout(8000)
      await own.page.clock.install()
      await own.open('/inbox')
      const notice = own.page.getByRole('dialog', { name: 'Submission deleted' })
      const boxes = own.page.locator('#inbox-list label')
      await own.page.locator('#inbox-list a').nth(6).focus()
      await own.page.keyboard.press('#')
      await notice.waitFor()
      await boxes.nth(5).click()
      await own.page.getByRole('toolbar', { name: 'Selected submissions' }).waitFor()
      expect(await own.page.evaluate<string[]>(LIST_COVERED)).toEqual([])

      const stored = (await person.api('/submissions?limit=1')).json.total
      await notice.hover()
      await own.page.clock.fastForward(60_000)
      expect(await notice.isVisible()).toBe(true)
      await own.page.keyboard.press('F6')
      await own.page.mouse.move(viewport.width / 2, viewport.height / 2)
      await own.page.clock.fastForward(60_000)
      expect(await notice.isVisible()).toBe(true)
      expect((await person.api('/submissions?limit=1')).json.total).toBe(stored)
      await boxes.nth(5).locator('input').focus()
      await own.page.clock.fastForward(10_000)
      await notice.waitFor({ state: 'detached' })
      if (viewport === PHONE) {
        const focusedId = () => own.page.evaluate<string>('document.activeElement.id')
        const tapped = own.page.locator('#inbox-list a').nth(3)
        const id = await tapped.getAttribute('id')
        await tapped.click()
        await until('the focus in the reader', async () => (await focusedId()) === 'inbox-reader')
        await own.page.getByRole('button', { name: 'Back to the list (Escape)' }).click()
        await until('the focus on the row', async () => (await focusedId()) === id)
      }
      await until(
        'the deletion',
        async () => (await person.api('/submissions?limit=1')).json.total === stored - 1,
      )
      await own.close()
    },
    60_000,
  )

  full(
    'changes the others of many where somebody else has deleted one',
    async () => {
      await setAll('new')
      await window.open('/inbox')
      await row(40).focus()
      await page.keyboard.press('x')
      await page.keyboard.press('J')
      // The page has not learnt of it yet when it sends the change.
      await person.api(`/submissions/${ids[39]}`, { method: 'DELETE' })
      await page.keyboard.press('e')
      await untilStatus('archived', 1)
      expect((await person.api(`/submissions/${ids[40]}`)).json.data.status).toBe('archived')
    },
    60_000,
  )

  full(
    'fits every width with selected submissions',
    async () => {
      await window.open('/inbox')
      await page.locator('#inbox-list label').nth(2).click()
      await bar().waitFor()
      const wider: number[] = []
      for (const width of [2560, 1440, 1024, 768, 360, 320]) {
        await page.setViewportSize({ width, height: 800 })
        if ((await page.evaluate<number>(MEASURE_OVERFLOW)) > 0) wider.push(width)
      }
      await page.setViewportSize(DESKTOP)
      expect(wider).toEqual([])
    },
    60_000,
  )

  test('finds submissions from anywhere, shortens a pasted address, and sets the theme', async () => {
    await window.open('/settings/tags')
    const palette = page.getByRole('dialog', { name: 'Search and commands' })
    const options = palette.getByRole('option')
    const ask = async (text: string) => {
      if (!(await palette.isVisible())) await page.keyboard.press('ControlOrMeta+k')
      await palette.getByRole('combobox').fill(text)
    }
    await ask('question 42')
    await options.filter({ hasText: 'Contact us' }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Sender 42' }).waitFor()

    // An answer that comes after the text has changed is dropped.
    const release = Promise.withResolvers<void>()
    await page.route(/search=question\+43/, async (route) => {
      await release.promise
      await route.continue()
    })
    await page.route(/submissions\?search=broken/, (route) =>
      route.fulfill({ status: 400, json: { error: 'The search is broken' } }),
    )
    await ask('question 43')
    await palette.getByText('Searching…').waitFor()
    await ask('question 44')
    await options.filter({ hasText: 'Sender 44' }).waitFor()
    release.resolve()
    await ask('no such thing')
    // The answer to the text before is gone at once: Enter must not open it.
    expect(await options.count()).toBe(0)
    await palette.getByText('No matches').waitFor()
    await ask('broken')
    await palette.getByText('Couldn’t search submissions: The search is broken').waitFor()

    await ask('dark')
    await page.keyboard.press('Enter')
    expect(await page.evaluate<string>('document.documentElement.dataset.theme')).toBe('dark')
    await row(35).focus()
    await ask('system')
    await page.keyboard.press('Enter')
    await until('the focus on the row again', async () => (await findFocusedSender(page)) === 'Sender 35')

    await ask('javascript:alert(1)')
    await palette.getByText('No matches').waitFor()
    await ask('https://example.org/a?b=1&c=%20')
    await options.filter({ hasText: 'Shorten https://example.org/a?b=1&c=%20' }).waitFor()
    await page.keyboard.press('Enter')
    const editor = page.getByRole('dialog', { name: 'New link' })
    expect(await editor.getByLabel('Destination URL').inputValue()).toBe('https://example.org/a?b=1&c=%20')
    await editor.getByRole('button', { name: 'Create link' }).click()
    await editor.waitFor({ state: 'detached' })
    expect((await person.api('/links')).json.data[0].destinationUrl).toBe('https://example.org/a?b=1&c=%20')
  }, 60_000)
})
