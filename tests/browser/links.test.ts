// The Links and Tags pages in a browser: the trash, slugs that are checked while they are typed, rows that open, two
// people who edit one link, errors in the words of the screen, and the focus.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import type { LinkResource } from '../../server/features/links/schema.ts'
import { chooseOption } from '../support/browser/choose-option.ts'
import { type DashboardWindow, onDashboard } from '../support/browser/dashboard-browser.ts'
import { full } from '../support/suite.ts'
import { until } from '../support/until.ts'
import type { SignedUpUser } from '../support/users/sign-up.ts'

const U = 'https://example.com/'

/** Values that the server refuses, for fields that the forms show and for others. Browsers hold most of them back. */
const BAD = {
  destinationUrl: 'javascript:1',
  expiredUrl: 'nowhere',
  clickLimit: 0,
  startsAt: 'soon',
  deviceTargeting: { ios: 'nowhere' },
  geoTargeting: { XYZ: 'nowhere' },
  redirectStatus: 200,
  trackConversions: 'yes',
  name: '',
  color: 'black',
  successMessage: 7,
  redirectUrl: 'javascript:1',
  nextHosts: ['not a host'],
  allowedOrigins: ['nowhere'],
  channelIds: ['one'],
  scopes: ['everything'],
  expiresAt: 'never',
  botToken: 1,
  chatId: {},
  notAField: true,
}

const FORMS: { path: string; fill?: [label: string, text: string]; save: string; hidden: string }[] = [
  { path: '/settings/tags?new=1', fill: ['Name', 'A tag'], save: 'Create tag', hidden: 'Destination URL' },
  { path: '/forms?new=1', fill: ['Name', 'A form'], save: 'Create form', hidden: '' },
  { path: '/domains?new=1', fill: ['Domain', 'go.example.com'], save: 'Add domain', hidden: 'Click limit' },
  { path: '/settings?tab=keys', fill: ['Name', 'A key'], save: 'Create key', hidden: 'Click limit' },
  { path: '/settings', fill: ['Workspace name', 'Other'], save: 'Save', hidden: '' },
  // The last one: it asks before it is left.
  {
    path: '/links?new=1',
    fill: ['Destination URL', 'https://example.com'],
    save: 'Create link',
    hidden: 'Color',
  },
]

onDashboard(
  'the Links and Tags pages',
  (dashboard) => {
    let person: SignedUpUser
    let window: DashboardWindow
    let page: Page

    beforeAll(async () => {
      person = await dashboard().signUp()
      window = await dashboard().openWindow(person)
      page = window.page
      await window.open('/links')
    })
    afterAll(async () => {
      await window?.close()
    })

    const create = async (fields: Partial<LinkResource> & { tagNames?: string[] }): Promise<LinkResource> =>
      (await person.api('/links', { method: 'POST', body: { destinationUrl: U, ...fields } })).json.data
    const row = (slug: string) => page.getByRole('listitem').filter({ hasText: slug })
    const focused = () => page.evaluate('document.activeElement.id || document.activeElement.textContent')
    const untilFocused = (what: string) =>
      until(`the focus on ${what}`, async () => (await focused()) === what)

    test('fields for URLs drop what stands around a pasted one, and keep what is typed', async () => {
      // Its draft asks before it is left.
      const own = await dashboard().openWindow(person)
      await own.visit('/links?new=1')
      const destination = own.page.getByLabel('Destination URL', { exact: true })
      await destination.fill(' “https://example.com/x?utm_source=news”\n')
      expect(await destination.inputValue()).toBe('https://example.com/x?utm_source=news')
      await destination.fill('')
      await destination.pressSequentially("https://example.com/it's")
      expect(await destination.inputValue()).toBe("https://example.com/it's")
      for (const title of ['Schedule and limits', 'Social card', 'Targeting'])
        await own.page.getByText(title, { exact: true }).click()
      for (const label of ['Expiration URL', 'Card image', 'iPhone and iPad']) {
        const field = own.page.getByLabel(label, { exact: true })
        await field.fill('<https://example.com/y> ')
        expect([label, await field.inputValue()]).toEqual([label, 'https://example.com/y'])
      }
      await own.page.getByRole('button', { name: 'Add country' }).click()
      await chooseOption(own.page.getByLabel('Country', { exact: true }), /Kosovo/)
      await own.page.getByLabel('Destination for Kosovo').fill("'https://example.com/ks'")
      expect(await own.page.getByLabel('Destination for Kosovo').inputValue()).toBe('https://example.com/ks')
      await own.close()
    })

    test('a date or a number that is typed halfway is not saved as none', async () => {
      const { id } = await create({ slug: 'halfway', clickLimit: 100 })
      const own = await dashboard().openWindow(person)
      await own.visit(`/links/${id}?edit=1`)
      await own.page.getByText('Schedule and limits', { exact: true }).click()
      const save = own.page.getByRole('button', { name: 'Save changes' })
      for (const [label, text] of [
        ['Expires', '12312030'],
        ['Click limit', '1e'],
      ] as const) {
        const field = own.page.getByLabel(label)
        await field.pressSequentially(text)
        await save.click()
        const isAtField = own.page.evaluate('document.activeElement.validity?.badInput')
        expect([label, await isAtField]).toEqual([label, true])
        await field.fill('')
      }
      await own.page.getByLabel('Click limit').fill('7')
      await save.click()
      await own.page.getByText('Link saved').waitFor()
      expect((await person.api(`/links/${id}`)).json.data).toMatchObject({ clickLimit: 7, expiresAt: null })
      await person.api(`/links/${id}?permanent=true`, { method: 'DELETE' })
      await own.close()
    })

    full('the palette opens a pasted short URL, and offers to shorten another address', async () => {
      const link = await create({ slug: 'palette' })
      const longer = await create({ slug: 'palette-longer' })
      await page.keyboard.press('ControlOrMeta+k')
      const field = page.getByRole('combobox', { name: 'Search and commands' })
      await field.fill('https://example.com/x')
      await page.getByText('Shorten https://example.com/x').waitFor()
      await field.fill(`  ${link.shortUrl} `)
      const options = page.getByRole('option')
      await options.getByText('/palette').waitFor()
      expect(await options.count()).toBe(1)
      for (const pasted of [`“${link.shortUrl}”.`, `${link.shortUrl},?utm_source=${'long'.repeat(60)}`]) {
        await field.fill(pasted)
        await options.getByText('/palette').waitFor()
        expect(await options.count()).toBe(1)
      }
      // The server has more names than the one that the dashboard is opened with.
      await field.fill(`https://old.example/${link.slug}?a=b`)
      await options.getByText('/palette').waitFor()
      expect(await options.count()).toBe(1)
      await page.keyboard.press('Enter')
      await page.waitForURL(`**/links/${link.id}*`)
      await person.api(`/links/bulk?ids=${link.id},${longer.id}`, { method: 'DELETE' })
      await person.api('/links/trash', { method: 'DELETE' })
    })

    test('rules are added, ordered and explained, and the tester names the one that decides', async () => {
      const { id } = await create({ slug: 'ruled', rules: [{ when: { country: ['DE'] }, to: `${U}de` }] })
      await window.open(`/links/${id}`)
      await page.getByRole('button', { name: 'Edit' }).first().click()
      await page.getByRole('heading', { name: 'Rules', exact: true }).click()
      await page.getByRole('button', { name: 'Add rule' }).click()
      const second = page.getByRole('group', { name: 'Rule 2' })
      await second.getByLabel('Destination').fill('example.com/tablet')
      await second.getByLabel('Countries').fill('de, at')
      await second.getByLabel('Tablet').check()
      await second.getByLabel('Query parameters').fill('ref=*')
      await page.getByRole('button', { name: 'Add rule' }).click()
      const third = page.getByRole('group', { name: 'Rule 3' })
      await third.getByLabel('Destination').fill('example.com/shadow')
      await third.getByLabel('Countries').fill('DE')
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByRole('region', { name: 'Rules' }).getByText('matches the same visitors first').waitFor()
      await page.getByRole('button', { name: 'Edit' }).first().click()
      await page.getByRole('heading', { name: 'Rules', exact: true }).click()
      await page.getByRole('button', { name: 'Move Rule 2 up' }).click()
      await page.getByRole('button', { name: 'Remove Rule 3' }).click()
      await page.getByRole('button', { name: 'Save' }).click()
      const saved = await until('the saved rules', async () => {
        const { rules } = (await person.api(`/links/${id}`)).json.data
        return rules.length === 2 && rules
      })
      expect(saved).toEqual([
        {
          when: { country: ['DE', 'AT'], device: ['tablet'], query: { ref: '*' } },
          to: 'https://example.com/tablet',
        },
        { when: { country: ['DE'] }, to: `${U}de` },
      ])
      await page.getByText('Test targeting').click()
      await chooseOption(page.getByRole('combobox', { name: 'Country' }), /Germany/)
      await page.getByText('Redirects by rule 2').waitFor()
      await person.api(`/links/${id}?permanent=true`, { method: 'DELETE' })
      await window.open('/links')
    })

    test('a split test is set by keyboard, shows who goes where, names what is wrong, and ends', async () => {
      const { id } = await create({
        slug: 'tested',
        destinationUrl: `${U}a`,
        rules: [{ when: { country: ['DE'] }, to: `${U}de` }],
      })
      await window.open(`/links/${id}`)
      await page.getByRole('button', { name: 'Edit' }).first().click()
      const title = page.getByRole('heading', { name: 'Split test', exact: true })
      await page.locator('summary', { has: title }).focus()
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name: 'Start a split test' }).press('Enter')
      const second = page.getByRole('group', { name: 'Variant 2' })
      await second.getByLabel('Destination').fill('example.com/b')
      await second.getByLabel('Weight (%)').fill('40')
      await page.getByText('The weights add up to 90').waitFor()
      const preview = page.getByRole('region', { name: 'Who goes where' })
      await preview.getByText('Germany: example.com/de').waitFor()
      await preview.getByText(/^40.% B$/).waitFor()
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByText('Weights must add up to 100, and are 90').waitFor()
      await until(
        'the focus on a weight',
        async () => (await page.evaluate('document.activeElement.type')) === 'number',
      )
      await page.getByRole('button', { name: 'Add variant' }).press('Enter')
      await page.getByRole('button', { name: 'Split evenly' }).press('Enter')
      const third = page.getByRole('group', { name: 'Variant 3' })
      await third.getByLabel('Destination').fill('javascript:alert(1)')
      await page.getByRole('button', { name: 'Save' }).click()
      await third.getByText('Must be an http or https URL').waitFor()
      await page.getByRole('button', { name: 'Remove Variant 3' }).press('Enter')
      await page.getByLabel('Ends').fill('2020-01-01T10:00')
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByText('Must be in the future').waitFor()
      await page.getByLabel('Ends').fill('')
      await page.getByRole('button', { name: 'Save' }).click()
      const card = page.locator('section', { has: page.getByRole('heading', { name: /^Split test/ }) })
      await card.getByText('Too early to tell: no clicks yet.').waitFor()
      expect((await person.api(`/links/${id}`)).json.data.split).toEqual([
        { url: `${U}a`, weight: 50, label: 'A' },
        { url: `${U}b`, weight: 50, label: 'B' },
      ])
      await page.getByText('Test targeting').click()
      await page.getByText('Redirects to a variant of the split test').waitFor()
      await card.getByRole('button', { name: 'End the test' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByText('The first one, A, becomes the destination.').waitFor()
      await dialog.getByRole('button', { name: 'End the test' }).click()
      await card.getByText('The first one, A, became the destination.').waitFor()
      await person.api(`/links/${id}?permanent=true`, { method: 'DELETE' })
      await window.open('/links')
    })

    test('a deleted link waits in the trash, returns with Undo, and can be restored or deleted for good there', async () => {
      const [a, b, c] = [
        await create({ slug: 'aa' }),
        await create({ slug: 'bb' }),
        await create({ slug: 'cc' }),
      ]
      const readTrash = async () =>
        (await person.api('/links/trash')).json.data.map(({ slug }: LinkResource) => slug)
      await window.visit('/links?sort=slug&order=asc')
      await row('bb').getByRole('button', { name: /^More/ }).click()
      await page.getByRole('menuitem', { name: 'Delete' }).click()
      await page.getByText('Link moved to trash').waitFor()
      await row('/bb').waitFor({ state: 'detached' })
      // The row that follows has the focus.
      await untilFocused(`link-${c.id}`)
      // The page shows the change before the server answers.
      await until('the link in the trash', async () => (await readTrash()).join() === 'bb')
      await page.getByRole('button', { name: 'Undo' }).click()
      await row('/bb').waitFor()
      expect((await person.api(`/links/${b.id}`)).status).toBe(200)

      await person.api(`/links/bulk?ids=${a.id},${b.id},${c.id}`, { method: 'DELETE' })
      await window.visit('/links')
      await page.getByRole('link', { name: 'Trash' }).click()
      await row('/cc').getByText('30 days left').waitFor()
      await page.getByRole('button', { name: /^Restore .*cc$/ }).click()
      await row('/cc').waitFor({ state: 'detached' })
      await until('the focus on a row', async () => /^trash-/.test((await focused()) as string))
      await page.getByRole('button', { name: /^Delete .*bb for good$/ }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Delete for good' }).click()
      await row('/bb').waitFor({ state: 'detached' })
      await until('one link in the trash', async () => (await readTrash()).join() === 'aa')
      await page.getByRole('button', { name: 'Empty trash' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Delete for good' }).click()
      await page.getByText('The trash is empty').waitFor()
      expect((await person.api('/links')).json.data.map(({ slug }: LinkResource) => slug)).toEqual(['cc'])
    }, 120_000)

    test('the server is asked whether a slug is free, for reserved names, other workspaces and the trash too', async () => {
      const other = await dashboard().signUp()
      await other.api('/links', { method: 'POST', body: { destinationUrl: U, slug: 'theirs' } })
      await create({ slug: 'mine' })
      const { id } = await create({ slug: 'thrown' })
      await person.api(`/links/${id}`, { method: 'DELETE' })
      await window.visit('/links?new=1')
      const field = page.getByRole('dialog').getByLabel('Short link')
      for (const [slug, text] of [
        ['theirs', 'This short link is taken.'],
        ['Mine', 'Another link of this workspace has it.'],
        ['docs', 'This name is reserved for the server itself.'],
        ['a§b', 'The slug may contain letters, digits, emoji'],
        ['spare', 'This short link is free.'],
        ['thrown', 'A link in the trash has this short link.'],
      ] as const) {
        await field.fill(slug)
        await page.getByText(text).waitFor()
      }
      // The answer about the text before is gone with the first letter, before the new answer is there.
      await page.route('**/v1/links/slug-availability*', () => undefined)
      await field.fill('docs2')
      await page.getByText('Checking…').waitFor()
      expect(await page.getByText('A link in the trash').count()).toBe(0)
      await page.unroute('**/v1/links/slug-availability*')
      await field.fill('thrown')
      await page.getByRole('button', { name: 'Restore it' }).click()
      await page.getByText('/thrown is restored').waitFor()
      expect((await person.api(`/links/${id}`)).status).toBe(200)
      await page.getByRole('button', { name: 'Cancel' }).click()
      await page.getByRole('button', { name: 'Discard' }).click()
      await page.getByRole('dialog', { name: 'New link' }).waitFor({ state: 'detached' })
    }, 120_000)

    full(
      'a row opens its link, its clicks open the analytics, and boxes, text and new tabs keep their own clicks',
      async () => {
        const link = await create({ slug: 'row', title: 'A row to open', tagNames: ['Press'] })
        const path = `/app/${person.workspaceId}/links`
        // Loaded anew: the list of a moment ago does not have the link yet.
        await window.open('/links')
        const title = row('/row').getByText('A row to open')
        await row('/row').getByRole('checkbox').click()
        await page.getByText('1 link selected').waitFor()
        await page.getByRole('button', { name: 'Clear selection' }).click()
        await untilFocused(`link-${link.id}`)
        // Dragging over the text selects it.
        const box = await title.boundingBox()
        if (!box) throw new Error('the title is not drawn')
        await page.mouse.move(box.x + 1, box.y + box.height / 2)
        await page.mouse.down()
        await page.mouse.move(box.x + box.width - 2, box.y + box.height / 2, { steps: 4 })
        await page.mouse.up()
        expect(new URL(page.url()).pathname).toBe(path)
        await page.evaluate('getSelection().removeAllRanges()')
        const opened = page.context().waitForEvent('page')
        await title.click({ button: 'middle' })
        const tab = await opened
        await tab.waitForURL(`**${path}/${link.id}`, { waitUntil: 'commit' })
        await tab.close()
        expect(new URL(page.url()).pathname).toBe(path)
        await title.click()
        await page.waitForURL(`**${path}/${link.id}`)
        const analytics = `/analytics?linkId=${link.id}&interval=all`
        const total = page.getByRole('link', { name: '0', exact: true })
        expect(await total.getAttribute('href')).toBe(`/app/${person.workspaceId}${analytics}`)
        await window.visit('/links')
        await row('/row').getByRole('link', { name: '0 clicks' }).click()
        await page.waitForURL(`**${analytics}`)
        await window.visit('/settings/tags')
        await page.getByRole('listitem').filter({ hasText: 'Press' }).getByText('1 link').click()
        await page.waitForURL(`**${path}?tagId=${link.tags[0]?.id}`)
      },
      120_000,
    )

    full(
      'the second of two people who edit a link sees what the first has changed, and chooses',
      async () => {
        const { id } = await create({ slug: 'shared', title: 'Old', clickLimit: 5 })
        const read = async () => (await person.api(`/links/${id}`)).json.data
        const change = (body: object) => person.api(`/links/${id}`, { method: 'PATCH', body })
        const edit = async (title: string, theirs: object) => {
          await window.visit(`/links?edit=${id}`)
          const field = page.getByRole('dialog').getByLabel('Title', { exact: true })
          await field.fill(title)
          await change(theirs)
          await page.getByRole('button', { name: 'Save changes' }).click()
          const notice = page.getByRole('alert').filter({ hasText: 'Someone else has changed this link' })
          await notice.waitFor()
          return { field, notice }
        }
        const first = await edit('Mine', { title: 'Theirs', clickLimit: 7 })
        expect((await read()).title).toBe('Theirs')
        expect(await first.notice.textContent()).toMatch(
          /Title · you changed it too.*Old → Theirs.*Click limit.*5 → 7/,
        )
        await first.notice.getByRole('button', { name: 'Keep mine' }).click()
        await page.getByRole('dialog', { name: 'Edit link' }).waitFor({ state: 'detached' })
        expect(await read()).toMatchObject({ title: 'Mine', clickLimit: 7 })

        const second = await edit('Mine again', { title: 'Theirs again' })
        await second.notice.getByRole('button', { name: 'Take theirs' }).click()
        await second.notice.waitFor({ state: 'detached' })
        expect(await second.field.inputValue()).toBe('Theirs again')
        expect((await read()).title).toBe('Theirs again')
        await page.getByRole('button', { name: 'Save changes' }).click()
        await page.getByRole('dialog', { name: 'Edit link' }).waitFor({ state: 'detached' })
      },
      120_000,
    )

    test('after a tag is deleted or edited, the focus is on the next row or back at the button', async () => {
      await create({ slug: 'tags', tagNames: ['First', 'Second'] })
      // Loaded anew: the list of a moment ago does not have the tags yet.
      await window.open('/settings/tags')
      const tags: { id: number; name: string }[] = (await person.api('/tags')).json.data
      const more = page.getByRole('button', { name: /^More for / })
      await more.nth(1).waitFor()
      const labels = await Promise.all([0, 1].map((n) => more.nth(n).getAttribute('aria-label')))
      const names = labels.map((label) => label?.slice('More for '.length))
      await more.first().click()
      await page.getByRole('menuitem', { name: 'Delete' }).click()
      await untilFocused(`tag-${tags.find(({ name }) => name === names[1])?.id}`)
      await page.getByRole('button', { name: `Edit ${names[1]}` }).click()
      const dialog = page.getByRole('dialog', { name: 'Edit tag' })
      await dialog.getByLabel('Name').fill(`${names[1]} too`)
      await page.keyboard.press('Enter')
      await dialog.waitFor({ state: 'detached' })
      await until('the focus on the button', async () =>
        /^Edit /.test((await page.evaluate('document.activeElement.getAttribute("aria-label")')) as string),
      )
      expect(window.errors.filter((error) => !/40[49]|412|422/.test(error))).toEqual([])
    }, 120_000)

    test('an error names the fields of the screen in every form, also those that the form does not show', async () => {
      await page.route('**/v1/**', (route) => {
        const request = route.request()
        if (!['POST', 'PATCH'].includes(request.method())) return route.continue()
        return route.continue({
          postData: JSON.stringify({ ...JSON.parse(request.postData() ?? '{}'), ...BAD }),
        })
      })
      for (const { path, fill, save, hidden } of FORMS) {
        await window.visit(path)
        if (path.endsWith('keys')) await page.getByRole('button', { name: 'New key' }).click()
        const place =
          path.includes('new=1') || path.endsWith('keys') ? page.getByRole('dialog') : page.locator('main')
        if (fill) await place.getByLabel(fill[0], { exact: true }).fill(fill[1])
        await place.getByRole('button', { name: save, exact: true }).first().click()
        await place.locator('[role=alert], .text-danger').first().waitFor()
        const shown = (await place.allInnerTexts()).join(' ').replaceAll('iPhone', '')
        expect([path, shown.match(/\b[a-z]+[A-Z]\w*/g)]).toEqual([path, null])
        expect([path, shown.includes(hidden)]).toEqual([path, true])
      }
    }, 120_000)
  },
  { environment: { TOWPATH_ALIASES: 'old.example' } },
)
