// A split test from the first click to the money: two variants, 40 visitors, six leads, two won. Each page tells the truth.

import { expect, test } from 'bun:test'
import { findBarriers } from '../support/browser/accessibility.ts'
import { onDashboard } from '../support/browser/dashboard-browser.ts'
import { nextSenderAddress } from '../support/form-requests.ts'
import { until } from '../support/until.ts'
import { BROWSER_USER_AGENT } from '../support/world.ts'

const VISITORS = 40
const LEADS = { A: 2, B: 4 }
const SPLIT = [
  { url: 'https://shop.example/a', weight: 50, label: 'A' },
  { url: 'https://shop.example/b', weight: 50, label: 'B' },
]
const percent = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 })

onDashboard(
  'a split test',
  (dashboard) => {
    test('shows the clicks, leads and money of each variant, and keeps its result', async () => {
      const { server } = dashboard()
      const person = await dashboard().signUp()
      const create = async (path: string, body: object) =>
        (await person.api(path, { method: 'POST', body })).json.data
      const link = await create('/links', {
        destinationUrl: SPLIT[0]?.url,
        trackConversions: true,
        split: SPLIT,
      })
      const { formKey } = await create('/forms', { name: 'Quote' })
      const clicks = { A: 0, B: 0 }
      const leads = { A: 0, B: 0 }
      for (let n = 0; n < VISITORS; n++) {
        const headers = { 'User-Agent': BROWSER_USER_AGENT, 'X-Forwarded-For': nextSenderAddress() }
        const location = (await server.click(link.slug, headers)).headers.get('location') ?? ''
        const label = location.startsWith('https://shop.example/b') ? 'B' : 'A'
        clicks[label]++
        if (leads[label] === LEADS[label]) continue
        const email = `${label}${leads[label]++}@example.com`.toLowerCase()
        await server.submit(formKey, { email }, { ...headers, Referer: location })
      }
      expect(leads).toEqual(LEADS)
      await server.click(link.slug, { 'User-Agent': 'Googlebot/2.1' })
      await server.waitUntilShipped()
      const won = { stage: 'won', currency: 'EUR' }
      await create('/outcomes', [
        { ...won, email: 'b0@example.com', value: '1200.00' },
        { ...won, email: 'b1@example.com', value: '99.50' },
        { email: 'a0@example.com', stage: 'qualified' },
      ])

      const { page, open, visit, close, errors } = await dashboard().openWindow(person)
      await open(`/links/${link.id}`)
      const card = page.locator('section', { has: page.getByRole('heading', { name: /^Split test/ }) })
      const readRows = async () => {
        const rows = await card.getByRole('row').allInnerTexts()
        return rows.slice(1).map((row) => row.split(/\s*\t\s*|\n/).map((cell) => cell.trim()))
      }
      const expectFigures = async () => {
        const rows = await readRows()
        for (const [index, label] of (['A', 'B'] as const).entries()) {
          const rate = percent.format(leads[label] / clicks[label])
          for (const cell of [label, String(clicks[label]), String(leads[label]), rate])
            expect(rows[index]).toContain(cell)
        }
      }
      await card.getByText('Too early to tell: the difference may be chance.').waitFor()
      await expectFigures()

      const funnel = page.locator('section', {
        has: page.getByRole('heading', { name: 'Conversion funnel' }),
      })
      await funnel.scrollIntoViewIfNeeded()
      await funnel.getByText('€1,299.50').first().waitFor()
      const variants = page.getByRole('tab', { name: 'Variants' })
      await variants.scrollIntoViewIfNeeded()
      await variants.click()
      const list = page.locator('section', { has: variants })
      for (const label of ['A', 'B'] as const)
        await list
          .getByRole('listitem')
          .filter({ hasText: label })
          .getByText(String(clicks[label]), { exact: true })
          .waitFor()
      await visit(`/links/${link.id}?variant=B`)
      await funnel.scrollIntoViewIfNeeded()
      await funnel.getByText('€1,299.50').first().waitFor()
      await visit(`/links/${link.id}?variant=A`)
      await page
        .getByRole('button', { name: /^Clicks/ })
        .getByText(String(clicks.A), { exact: true })
        .waitFor()
      await funnel.getByText('€1,299.50').first().waitFor({ state: 'detached' })

      await visit(`/links/${link.id}?edit=1`)
      await page
        .locator('summary')
        .filter({ hasText: /^Split test/ })
        .click()
      await page.getByRole('region', { name: 'Who goes where' }).waitFor()
      for (const colorScheme of ['dark', 'light'] as const)
        for (const width of [390, 1280]) {
          await page.emulateMedia({ colorScheme })
          await page.setViewportSize({ width, height: 900 })
          // Colors that still change are between two themes.
          await until('the colors of the theme', () =>
            page.evaluate(`!document.getAnimations().some(
            (each) => each instanceof CSSTransition && each.playState === 'running')`),
          )
          expect(await findBarriers(page)).toEqual([])
          expect(
            await page.evaluate(
              'document.documentElement.scrollWidth - document.documentElement.clientWidth',
            ),
          ).toBeLessThanOrEqual(0)
        }
      await visit(`/links/${link.id}`)
      expect(await findBarriers(page)).toEqual([])
      await card.getByRole('button', { name: 'End the test' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByText('The first one, A, becomes the destination.').waitFor()
      await dialog.getByRole('button', { name: 'End the test' }).click()
      await card.getByText('The first one, A, became the destination.').waitFor()
      await expectFigures()
      // The result stays, and nobody gets the other variant any more.
      await page.reload()
      await card.getByText('The first one, A, became the destination.').waitFor()
      await expectFigures()
      const stored = (await person.api(`/links/${link.id}`)).json.data
      expect(stored).toMatchObject({
        destinationUrl: SPLIT[0]?.url,
        split: null,
        splitResult: { best: null },
      })
      expect(errors).toEqual([])
      await close()
    })
  },
  { environment: { TRUST_PROXY: '127.0.0.1' } },
)
