// Imports and exports in the dashboard, from the file to its undo, in Chromium with a real server.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { findBarriers } from '../support/browser/accessibility.ts'
import { chooseOption, readChoice } from '../support/browser/choose-option.ts'
import { type DashboardWindow, onDashboard } from '../support/browser/dashboard-browser.ts'
import { addVerifiedDomain } from '../support/server/verified-domain.ts'
import { atScale, full } from '../support/suite.ts'
import { until } from '../support/until.ts'
import type { SignedUpUser } from '../support/users/sign-up.ts'

const DOMAIN = 'go.example'
const LINKS = atScale({ quick: 30, full: 300, soak: 300 })
const LAST = LINKS - 1

const toFile = (name: string, lines: string[]) => ({
  name,
  mimeType: 'text/csv',
  buffer: Buffer.from(`${lines.join('\n')}\n`),
})

/** Columns that no tool has, so that people map them. */
const MANY_LINKS = toFile('many.csv', [
  'Kurz,Ziel,Name',
  ...Array.from(
    { length: LINKS },
    (_, n) => `https://old.example/many-${n},https://example.com/${n},Link ${n}`,
  ),
])

const LONG = 'a-very-long-word-'.repeat(30)
const HOSTILE = toFile(`${LONG.slice(0, 200)}.csv`, [
  `Long URL,Short URL,${LONG}`,
  ...Array.from(
    { length: 1000 },
    (_, n) => `javascript:alert(${n})${LONG},https://old.example/${n},"=cmd|${LONG}"`,
  ),
])

onDashboard('imports and exports', (dashboard) => {
  let person: SignedUpUser
  let window: DashboardWindow
  let page: Page

  beforeAll(async () => {
    person = await dashboard().signUp()
    await addVerifiedDomain(dashboard().server, person.workspaceId, DOMAIN)
    window = await dashboard().openWindow(person)
    page = window.page
  })
  afterAll(() => window?.close())

  const button = (name: string, on = page) => on.getByRole('button', { name, exact: true })
  const fileField = (on = page) => on.getByLabel('File with the links')
  const title = (text: string, on = page) => on.getByRole('heading', { name: text }).waitFor()
  const countLinks = async () => (await person.api('/links?archived=all')).json.total
  const getImports = async () => (await person.api('/imports')).json.data

  full('is found in the sidebar, the settings, the first steps and by the palette', async () => {
    await window.open('/links')
    await page.getByRole('main').getByRole('link', { name: 'Import them' }).click()
    await title('Import and export')
    await page.getByText('No imports yet').waitFor()
    await window.visit('/settings')
    await page.getByRole('main').getByRole('link', { name: 'Import and export' }).click()
    await title('Import and export')
    await page.keyboard.press('Control+k')
    await page.keyboard.type('export')
    await page.getByRole('option', { name: 'Import and export' }).first().waitFor()
    await page.keyboard.press('Escape')
  })

  full('stores outcomes of leads, and tells the rows that failed', async () => {
    const { formKey } = (await person.api('/forms', { method: 'POST', body: { name: 'Quote' } })).json.data
    const body = { email: 'ada@example.com' }
    await dashboard().server.submit(formKey, body)
    await window.open('/transfer')
    const card = page.getByRole('form', { name: 'Import outcomes' })
    const file = (rows: string[]) => toFile('won.csv', ['email,value,currency', ...rows])
    await card.getByLabel('File with the outcomes').setInputFiles({ ...file([]), buffer: Buffer.alloc(0) })
    await card.getByText('won.csv is empty.').waitFor()
    const rows = ['ada@example.com,1299.50,EUR', 'nobody@example.com,1,EUR', 'ada@example.com,"1,5",EUR']
    const send = async (wait: string) => {
      await card.getByLabel('File with the outcomes').setInputFiles(file(rows))
      await button('Import outcomes').click()
      await card.getByText(wait).waitFor()
      return card.getByRole('definition').allTextContents()
    }
    expect(await send('Row 4, value:')).toEqual(['3', '1', '0', '2'])
    await card.getByText('Row 3, email:').waitFor()
    // The same file makes no second outcomes.
    rows.pop()
    await page.reload()
    expect(await send('Row 3, email:')).toEqual(['2', '0', '1', '1'])
    expect((await person.api('/outcomes')).json.data).toMatchObject([{ value: '1299.50', stage: 'won' }])
  })

  test('says what is wrong with a file before it is sent', async () => {
    await window.open('/settings/transfer')
    await fileField().setInputFiles({ ...MANY_LINKS, buffer: Buffer.alloc(0) })
    await page.getByText('many.csv is empty.').waitFor()
    await page.evaluate(dropFile('huge.csv', 65 * 2 ** 20))
    await page.getByText('huge.csv has 65 MB, and at most 64 MB can be uploaded here.').waitFor()
    await fileField().setInputFiles({ ...MANY_LINKS, name: 'broken.json', buffer: Buffer.from('[{"a": ') })
    await until(
      'a sentence at the field',
      async () => (await fileField().getAttribute('aria-invalid')) === 'true',
    )
    expect(await getImports()).toEqual([])
  })

  test('goes from a dropped file over its columns and a dry run to links, and back', async () => {
    const before = await countLinks()
    await window.open('/settings/transfer')
    await page.evaluate(dropFile(MANY_LINKS.name, MANY_LINKS.buffer.toString()))
    await title('Type of file')
    await page.getByText(`${LINKS} rows`).waitFor()
    await chooseOption(page.getByLabel('Destination URL', { exact: true }), 'Ziel')
    await chooseOption(page.getByLabel('Short link', { exact: true }), 'Kurz')
    await chooseOption(page.getByLabel('Title', { exact: true }), 'Name')
    await chooseOption(page.getByLabel(/old\.example/), DOMAIN)
    await button('Dry run').press('Enter')
    await title(`${LINKS} links would be created`)
    expect(await countLinks()).toBe(before)
    await page.getByText(`${DOMAIN}/many-0`, { exact: true }).waitFor()

    // The settings for the file are still there, and the file goes up once.
    await page.getByRole('link', { name: 'Change settings' }).click()
    expect(await readChoice(page.getByLabel('Title', { exact: true }))).toBe('Name')
    await page.getByLabel('Rename the link').check()
    await button('Dry run').click()
    await title(`${LINKS} links would be created`)
    await page.waitForURL(/\/transfer\/2$/)

    await button(`Import ${LINKS}`).click()
    await page.waitForURL(/\/transfer\/3$/)
    await page.reload()
    await title(`${LINKS} links imported`)
    expect(await countLinks()).toBe(before + LINKS)
    const [link] = (await person.api(`/links?search=many-${LAST}&archived=all`)).json.data
    expect(link).toMatchObject({
      domain: DOMAIN,
      title: `Link ${LAST}`,
      destinationUrl: `https://example.com/${LAST}`,
    })

    // A person changes one of them, so that it stays.
    const changed = await person.api(`/links/${link.id}`, { method: 'PATCH', body: { title: 'Mine' } })
    expect(changed.status).toBe(200)
    await button('Undo').click()
    const dialog = page.getByRole('dialog', { name: 'Undo this import?' })
    await dialog.getByText('Items that someone has changed since').waitFor()
    await button('Undo the import').click()
    await title('The import is undone')
    await page.getByText('1 link stayed: see the reasons below.').waitFor()
    await page.getByRole('link', { name: `${DOMAIN}/many-${LAST}`, exact: true }).waitFor()
    expect(await countLinks()).toBe(before + 1)

    await page.getByRole('link', { name: 'Import and export' }).click()
    await page.getByText(/Undone on .*, 1 link kept\./).waitFor()
    expect(window.errors.filter((text) => !text.includes('422'))).toEqual([])
  }, 120_000)

  full(
    'asks for the order of dates where it is not clear, and shows the errors of rows',
    async () => {
      await window.open('/settings/transfer')
      await fileField().setInputFiles(
        toFile('dates.csv', [
          'Short URL,Long URL,Created',
          'https://old.example/a,https://example.com/a,03/04/2025',
          'https://old.example/b,javascript:alert(1),05/06/2025',
        ]),
      )
      await page.getByText('03/04/2025 is 3 April 2025').waitFor()
      await page.getByText('03/04/2025 is 4 March 2025').waitFor()
      // Its hosts are known before the dates are.
      await page.getByLabel(/old\.example/).waitFor()
      await page.getByLabel('Month, day, year').check()
      await until('the dry run', () => button('Dry run').isEnabled())
      await button('Import now').click()
      await title('1 link imported')
      await page.getByText('javascript:alert(1)').waitFor()
      const download = page.waitForEvent('download')
      await button('Errors as CSV').click()
      expect((await download).suggestedFilename()).toMatch(/^import-\d+-errors\.csv$/)
      const [link] = (await person.api('/links?search=example.com/a&archived=all')).json.data
      expect(link.createdAt).toBe('2025-03-04T00:00:00.000Z')
      // Imported again, nothing is new.
      await window.visit('/settings/transfer')
      await page.getByText(/1 created, 1 error\. Can be undone until/).waitFor()
    },
    60_000,
  )

  full(
    'loses nothing when the session ends, and stops an upload that is canceled',
    async () => {
      const other = await dashboard().signUp()
      const { page, open, close } = await dashboard().openWindow(other)
      await open('/settings/transfer')
      await fileField(page).setInputFiles(toFile('one.csv', ['Long URL', 'https://example.com/one']))
      await title('Type of file', page)
      await dashboard().server.app.db.write((connection) =>
        connection
          .deleteFrom('sessions')
          .where('user_id', 'in', (e) => e.selectFrom('users').select('id').where('email', '=', other.email))
          .execute(),
      )
      await button('Dry run', page).click()
      const dialog = page.getByRole('dialog', { name: 'Sign in again' })
      await dialog.getByLabel('Password').fill(other.password)
      await dialog.getByRole('button', { name: 'Sign in', exact: true }).click()
      await title('1 link would be created', page)

      await page.getByRole('link', { name: 'Change settings' }).click()
      const isStart = (url: URL) => url.pathname === '/v1/imports'
      await page.route(isStart, (route) =>
        route.request().method() === 'POST' ? undefined : route.continue(),
      )
      await button('Dry run', page).click()
      await page.getByRole('progressbar').waitFor()
      await page.getByRole('link', { name: 'Tags' }).click()
      await button('Stay', page).click()
      await button('Cancel', page).click()
      await button('Dry run', page).waitFor()
      await close()
    },
    60_000,
  )

  for (const [colorScheme, width] of [
    ['light', 1280],
    ['dark', 360],
  ] as const) {
    full(
      `shows hostile files without barriers in ${width} pixels (${colorScheme})`,
      async () => {
        const { page, open, errors, close } = await dashboard().openWindow(person, {
          colorScheme,
          viewport: { width, height: 740 },
        })
        const check = async () => {
          const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
          expect(await page.evaluate<number>(overflow)).toBeLessThanOrEqual(0)
          expect(await findBarriers(page)).toEqual([])
        }
        await open('/settings/transfer')
        await check()
        await fileField(page).setInputFiles(HOSTILE)
        await page.getByText('columns with examples').click()
        await check()
        await button('Dry run', page).click()
        await page.getByText('1,000', { exact: true }).first().waitFor()
        await check()
        await button('Show more', page).click()
        await until('more rows', async () => (await page.getByRole('row').count()) > 100)
        expect(await button('Import', page).count()).toBe(0)
        await open('/settings/transfer?tab=export')
        await check()
        expect(errors).toEqual([])
        await close()
      },
      60_000,
    )
  }

  full(
    'lets a viewer see imports and export links, and change nothing',
    async () => {
      const body = { email: 'vera@example.com', role: 'viewer' }
      const { json } = await person.api('/invitations', { method: 'POST', body })
      const invitation = new URL(json.data.url).searchParams.get('token') as string
      const viewer = await dashboard().signUp({ name: 'Vera', email: body.email, invitation })
      const { page, open, visit, errors, close } = await dashboard().openWindow(viewer)
      await open('/settings/transfer')
      await page.getByText('Members and owners of the workspace can import.').waitFor()
      expect(await fileField(page).count()).toBe(0)
      await page.getByRole('link', { name: /dates\.csv/ }).click()
      await title('1 link imported', page)
      for (const name of ['Undo', 'Import', 'Cancel']) expect(await button(name, page).count()).toBe(0)
      await visit('/settings/transfer?tab=export')
      await page.getByText('Only owners can export the whole workspace.').waitFor()
      const download = page.waitForEvent('download')
      await button('Export links', page).click()
      await download
      expect(errors).toEqual([])
      await close()
    },
    60_000,
  )

  test('brings the submissions of another form service into a form', async () => {
    const created = await person.api('/forms', { method: 'POST', body: { name: 'Contact' } })
    const { formKey } = created.json.data
    await window.open(`/forms/${formKey}`)
    await button('Import submissions').click()
    const field = page.getByLabel('Export as CSV or JSON')
    await field.setInputFiles({ ...toFile('export.csv', []), buffer: Buffer.alloc(0) })
    await page.getByText('export.csv is empty.').waitFor()
    const rows = ['created_at,Email,message', '2026-02-03T20:30:00Z,ada@example.com,Hello', 'never,,Hello']
    await field.setInputFiles(toFile('export.csv', rows))
    expect(await findBarriers(page)).toEqual([])
    await button('Dry run').click()
    await title('1 submission would be created')
    await page.getByText('This date cannot be read').waitFor()
    await button('Import 1').click()
    await title('1 submission imported')
    await page.getByRole('link', { name: 'Show submissions' }).click()
    await page.getByText('ada@example.com').first().waitFor()
  })

  test('exports links and the whole workspace', async () => {
    await window.open('/settings/transfer?tab=export')
    for (const [name, file] of [
      ['Export links', /^links-.*\.csv$/],
      ['Export workspace', /\.zip$/],
    ] as const) {
      const download = page.waitForEvent('download')
      await button(name).click()
      expect((await download).suggestedFilename()).toMatch(file)
    }
  })
})

/** Drops a file on the field, as a person does. @param content its text, or how many bytes it has */
const dropFile = (name: string, content: string | number) => `(() => {
  const content = ${JSON.stringify(content)}
  const transfer = new DataTransfer()
  transfer.items.add(new File([typeof content === 'number' ? new Uint8Array(content) : content], ${JSON.stringify(name)}))
  document.querySelector('input[type=file]').dispatchEvent(new DragEvent('drop', { dataTransfer: transfer, bubbles: true, cancelable: true }))
})()`
