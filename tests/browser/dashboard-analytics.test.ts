// The analytics page: the chart as a brush, sources and their hosts, the world map, and the export of leads.

import { expect, test } from 'bun:test'
import { onDashboard } from '../support/browser/dashboard-browser.ts'
import { until } from '../support/until.ts'
import { BROWSER_USER_AGENT } from '../support/world.ts'

const VISITOR = { 'User-Agent': BROWSER_USER_AGENT }
/** An address in the United States, for the country database that comes with the product. */
const AMERICAN = { ...VISITOR, 'X-Forwarded-For': '8.8.8.8' }

onDashboard(
  'the analytics page',
  (dashboard) => {
    test('rates only leads that a click brought, and says so', async () => {
      const { server } = dashboard()
      const person = await dashboard().signUp()
      const body = { destinationUrl: 'https://shop.example/' }
      const { slug } = (await person.api('/links', { method: 'POST', body })).json.data
      await server.click(slug, AMERICAN)
      await server.click(slug, { ...AMERICAN, Referer: 'https://news.example/' })
      const form = (await person.api('/forms', { method: 'POST', body: { name: 'Contact' } })).json.data
      // One of five leads is of a visitor who has clicked.
      for (const n of [1, 2, 3, 4, 5]) {
        const headers = n === 1 ? AMERICAN : { 'User-Agent': `Someone else ${n}` }
        await server.call(`/f/${form.formKey}`, { method: 'POST', body: { n: `${n}` }, headers })
      }
      await server.waitUntilShipped()
      const { page, open, close, errors } = await dashboard().openWindow(person)
      await open('/analytics')
      const overview = page.getByRole('region', { name: 'Overview' })
      await overview.getByText('50%').first().waitFor()
      expect(await overview.getByTitle(/^Leads from clicks in this period/).count()).toBe(1)
      await overview.getByText('Live', { exact: true }).waitFor()
      // The workspace is of today: nothing is drawn for the days before.
      const days = overview.getByRole('table', { name: 'Clicks over time' }).getByRole('row')
      // The tiles are there before the chart's code is.
      await days.nth(28).waitFor({ state: 'attached' })
      const readDay = async (index: number) => (await days.nth(index).getByRole('cell').allTextContents())[0]
      expect([await readDay(1), await readDay(28), await readDay(-1)]).toEqual(['–', '–', '2'])
      const funnel = page.locator('section', { hasText: 'Conversion funnel' }).last()
      await funnel.scrollIntoViewIfNeeded()
      await funnel.getByText('50% of clicks · 4 without a link').waitFor()
      await funnel.getByRole('row').last().getByText('No link').waitFor()
      expect(await funnel.getByRole('row').last().textContent()).toBe('No link004–')
      expect(errors).toEqual([])
      await close()
    }, 60_000)

    test('zooms by dragging and by keyboard, leads from sources to hosts, filters by the map, and exports leads', async () => {
      const { server } = dashboard()
      const person = await dashboard().signUp()
      const { slug } = (
        await person.api('/links', { method: 'POST', body: { destinationUrl: 'https://shop.example/' } })
      ).json.data
      await server.click(slug, { ...AMERICAN, Referer: 'https://l.facebook.com/' })
      await server.click(slug, { ...AMERICAN, Referer: 'https://m.facebook.com/' })
      await server.click(slug, { ...VISITOR, Referer: 'https://news.example/' })
      const { formKey } = (await person.api('/forms', { method: 'POST', body: { name: 'Contact' } })).json
        .data
      await server.call(`/f/${formKey}`, {
        method: 'POST',
        body: { email: 'ada@example.com' },
        headers: VISITOR,
      })
      await server.waitUntilShipped()
      const { page, open, close, errors } = await dashboard().openWindow(person, {
        viewport: { width: 1280, height: 900 },
      })
      const parameters = () => new URL(page.url()).searchParams
      const isZoomed = (zoomed: boolean) =>
        until(zoomed ? 'a zoom' : 'no zoom', () => parameters().has('start') === zoomed)
      await open('/analytics')
      const slider = page.getByRole('slider', { name: 'Clicks over time' })
      await slider.waitFor({ state: 'attached' })

      const box = await page.locator('div:has(> input[type=range]) svg').first().boundingBox()
      if (!box) throw new Error('The chart has no size')
      const drag = async (to: number) => {
        await page.mouse.move(box.x + box.width / 2, box.y + 80)
        await page.mouse.down()
        await page.mouse.move(box.x + box.width * to, box.y + 80, { steps: 4 })
      }
      await drag(0.7)
      await page.locator('[data-brush]').waitFor()
      await page.keyboard.press('Escape')
      await page.mouse.up()
      expect(parameters().has('start')).toBe(false)
      await drag(0.7)
      await page.mouse.up()
      await isZoomed(true)
      const days =
        (Date.parse(parameters().get('end') ?? '') - Date.parse(parameters().get('start') ?? '')) / 86_400_000
      expect(days).toBeGreaterThan(3)
      expect(days).toBeLessThan(9)
      // The chart has the focus, so Escape undoes the zoom.
      await page.keyboard.press('Escape')
      await isZoomed(false)

      await page.mouse.move(0, 0)
      await slider.blur()
      await slider.focus()
      for (const key of ['End', 'ArrowLeft', 'Shift+ArrowLeft', 'Shift+ArrowLeft']) await slider.press(key)
      expect(await slider.getAttribute('aria-valuetext')).toContain('selected')
      await slider.press('Enter')
      await isZoomed(true)
      const keyed =
        (Date.parse(parameters().get('end') ?? '') - Date.parse(parameters().get('start') ?? '')) / 86_400_000
      expect(keyed).toBe(2)
      await page.getByRole('button', { name: 'Reset zoom' }).click()
      await isZoomed(false)

      const sources = page.getByRole('list', { name: 'Sources by clicks' })
      await sources
        .getByRole('button', { name: /^Facebook/ })
        .locator('svg')
        .waitFor()
      await sources.getByRole('button', { name: /^Facebook/ }).hover()
      await sources.getByRole('button', { name: 'Show the hosts of Facebook' }).click()
      const hosts = page.getByRole('list', { name: 'Referrers by clicks' })
      await hosts.getByText('l.facebook.com').waitFor()
      expect(await hosts.getByRole('listitem').count()).toBe(2)
      expect(await hosts.getByText('50%').count()).toBe(2)
      await page.getByRole('button', { name: 'Clear filters' }).click()

      const map = page.getByRole('img', { name: /^World map of clicks by country/ })
      await map.scrollIntoViewIfNeeded()
      await map.locator('[data-country=US].fill-accent').waitFor()
      await map.locator('[data-country=US]').dispatchEvent('click')
      await until('a filter', () => parameters().get('country') === 'US')
      const countries = page.getByRole('list', { name: 'Countries by clicks' })
      await countries.getByRole('button', { name: /^United States/, pressed: true }).waitFor()
      await page.getByRole('button', { name: 'Clear filters' }).click()

      await page
        .getByRole('button', { name: /^Leads/ })
        .first()
        .click()
      await page.getByRole('button', { name: 'Export' }).click()
      const download = page.waitForEvent('download')
      await page.getByRole('menuitem', { name: /^CSV/ }).press('Enter')
      const file = await download
      expect(file.suggestedFilename()).toMatch(/^leads-\d+-\w+-\w+\.csv$/)
      expect(await Bun.file(await file.path()).text()).toContain('ada@example.com')
      expect(errors).toEqual([])
      await close()
    }, 120_000)
  },
  { environment: { TRUST_PROXY: '127.0.0.1' } },
)
