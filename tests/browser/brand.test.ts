// The brand in a real browser: an owner sets it with an SVG, and visitors and the form's own settings show it.

import { expect, test } from 'bun:test'
import { findBarriers } from '../support/browser/accessibility.ts'
import { onDashboard } from '../support/browser/dashboard-browser.ts'
import { until } from '../support/until.ts'

/** The script would show itself in `errors`, as a violation of the policy or as a dialog. */
const LOGO =
  '<svg xmlns="http://www.w3.org/2000/svg" width="120" height="40" onload="alert(1)"><script>alert(2)</script><rect width="120" height="40" fill="#7a1f5c"/></svg>'

onDashboard('the brand of a workspace', (dashboard) => {
  test('is set with an SVG, which becomes a PNG, and is refused where it cannot be read', async () => {
    const { signUp, openWindow, server } = dashboard()
    const person = await signUp()
    const { page, open, errors, close } = await openWindow(person, {
      viewport: { width: 1280, height: 1000 },
    })
    await open('/settings')
    const card = page.locator('section', { hasText: 'Sender name' }).last()
    await card.getByLabel('Name', { exact: true }).fill('Boats')
    await card.getByLabel('Color', { exact: true }).fill('#ffcc00')
    await card
      .getByLabel('Logo')
      .setInputFiles({ name: 'logo.svg', mimeType: 'image/svg+xml', buffer: Buffer.from(LOGO) })
    await card.getByAltText('Current logo').waitFor()
    await card.getByLabel('Footer').fill('Boats, Harbor 1')
    await card.getByRole('button', { name: 'Save', exact: true }).click()
    await card.getByText(/This is too light: white text on it has a contrast of 1\.\d/).waitFor()
    await card.getByLabel('Color', { exact: true }).fill('#7a1f5c')
    await card.getByRole('button', { name: 'Save', exact: true }).click()
    await card.getByText('All changes saved').waitFor()
    expect(await findBarriers(page)).toEqual([])

    const form = (await person.api('/forms', { method: 'POST', body: { name: 'Contact' } })).json.data
    await page.goto(`${server.origin}/f/${form.formKey}/thanks`)
    await page.getByAltText('Boats').waitFor()
    await until('the logo', () =>
      page.evaluate<boolean>(`document.querySelector('.brand img').naturalWidth > 0`),
    )
    await page.getByText('Boats, Harbor 1').waitFor()
    await open(`/forms/${form.formKey}?tab=settings&page=brand`)
    const group = page.locator('#brand')
    await group
      .getByLabel('Sender name')
      .and(group.getByPlaceholder('Boats', { exact: true }))
      .waitFor()
    await group
      .getByLabel('Name', { exact: true })
      .and(group.getByPlaceholder('Boats', { exact: true }))
      .fill('Events')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('All changes saved').waitFor()
    await page.goto(`${server.origin}/f/${form.formKey}/thanks`)
    await page.getByAltText('Events').waitFor()
    // The color that is refused, and the icon that a browser asks for by itself: a visitor's page has none.
    expect(errors.filter((text) => !/status of (?:422|404)/.test(text))).toEqual([])
    await close()
  }, 60_000)
})
