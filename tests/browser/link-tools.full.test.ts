// The tools of the link editor in a browser: the slug as one types, UTM templates, QR codes of links that are not saved, pinned
// tags in the sidebar, and one change of many links with its undo.

import { expect, test } from 'bun:test'
import jsQR from 'jsqr'
import { PNG } from 'pngjs'
import { QR_STYLES } from '../../server/features/links/qr/schema.ts'
import type { LinkResource } from '../../server/features/links/schema.ts'
import { chooseOption } from '../support/browser/choose-option.ts'
import { onDashboard } from '../support/browser/dashboard-browser.ts'
import { makePng, toDataUrl } from '../support/make-png.ts'
import { until } from '../support/until.ts'

const U = 'https://old.example/'

onDashboard('the tools of the link editor', (dashboard) => {
  test('a new link: the slug keeps its caret, a template fills what is empty, and the code shows before saving', async () => {
    const person = await dashboard().signUp()
    const template = { name: 'Newsletter', utmSource: 'newsletter', utmMedium: 'email' }
    await person.api('/utm-templates', { method: 'POST', body: template })
    const { page, open, errors, close } = await dashboard().openWindow(person)
    await open('/links?new=1')
    await page.getByLabel('Destination URL').fill(`${U}?utm_source=own`)
    const slug = page.getByLabel('Short link')
    await slug.fill('spring sale')
    await slug.press('Home')
    await slug.press('ArrowRight')
    await page.keyboard.type(' ?x')
    expect(await slug.inputValue()).toBe('s-xpring-sale')
    expect(await page.evaluate<number>('document.activeElement.selectionStart')).toBe(3)
    await page.getByText('UTM parameters', { exact: true }).click()
    await chooseOption(page.getByLabel('Template'), 'Newsletter')
    expect(await page.getByLabel('Medium').inputValue()).toBe('email')
    expect(await page.getByLabel('Source').inputValue()).toBe('own')
    await page.getByText('Your own values stay: Source.').waitFor()
    await page.getByRole('button', { name: 'Use the template’s values' }).click()
    expect(await page.getByLabel('Source').inputValue()).toBe('newsletter')
    await page.getByText('QR code', { exact: true }).click()
    await page.getByAltText('QR code of s-xpring-sale').waitFor()
    await page.getByRole('button', { name: 'Create link' }).click()
    await page.getByText('/s-xpring-sale is live').waitFor()
    const [link] = (await person.api('/links')).json.data
    expect(link.destinationUrl).toBe(`${U}?utm_source=newsletter&utm_medium=email`)
    expect(errors).toEqual([])
    await close()
  }, 60_000)

  test('a tag is pinned from its menu, and many links change together and back', async () => {
    const person = await dashboard().signUp()
    const create = async (slug: string, tagNames?: string[]): Promise<LinkResource> =>
      (await person.api('/links', { method: 'POST', body: { destinationUrl: U + slug, slug, tagNames } }))
        .json.data
    const [a, b] = [await create('edit-a', ['Folder']), await create('edit-b')]
    const { page, open, visit, errors, close } = await dashboard().openWindow(person)
    await open('/settings/tags')
    await page.getByRole('button', { name: 'More for Folder' }).click()
    await page.getByRole('menuitem', { name: 'Pin to sidebar' }).click()
    await page.getByRole('list', { name: 'Pinned tags' }).getByRole('link', { name: 'Folder' }).click()
    await page.getByRole('listitem').filter({ hasText: 'edit-b' }).waitFor({ state: 'detached' })
    await visit('/links')
    for (const slug of ['edit-a', 'edit-b'])
      await page.getByRole('listitem').filter({ hasText: slug }).getByRole('checkbox').check()
    await page.getByRole('toolbar').getByRole('button', { name: 'Edit' }).click()
    const dialog = page.getByRole('dialog')
    await chooseOption(dialog.getByLabel('Destination URL'), 'Find and replace')
    await dialog.getByLabel('Find', { exact: true }).fill('old.example')
    await dialog.getByLabel('Replace with').fill('new.example')
    await chooseOption(dialog.getByLabel('Archive'), 'Archive')
    await dialog.getByRole('button', { name: 'Change 2 links' }).click()
    await page.getByText('2 links changed').waitFor()
    const read = async ({ id }: LinkResource): Promise<LinkResource> =>
      (await person.api(`/links/${id}`)).json.data
    expect([(await read(a)).destinationUrl, (await read(b)).archived]).toEqual([
      'https://new.example/edit-a',
      true,
    ])
    await page.getByRole('button', { name: 'Undo' }).click()
    await until('the links as before', async () => (await read(b)).destinationUrl === `${U}edit-b`)
    expect([(await read(a)).archived, (await read(b)).archived]).toEqual([false, false])
    expect(errors).toEqual([])
    await close()
  }, 60_000)

  test('a browser draws each SVG so that it is read', async () => {
    const person = await dashboard().signUp()
    const { page, close } = await dashboard().openWindow(person)
    const logo = toDataUrl(makePng({ width: 60, height: 40 }))
    for (const dots of QR_STYLES)
      for (const corners of QR_STYLES)
        for (const picture of [null, logo]) {
          const look = { dots, corners, logo: picture, size: 360, color: '1a2b3c' }
          const { text } = await person.api('/links/qr', { method: 'POST', body: { slug: 'drawn', ...look } })
          await page.setContent(`<body style="margin:0">${text}</body>`)
          const bytes = await page.screenshot({ clip: { x: 0, y: 0, width: 360, height: 360 } })
          const { width, height, data } = PNG.sync.read(bytes)
          const found = jsQR(new Uint8ClampedArray(data), width, height)?.data
          expect([look, found]).toEqual([look, `${dashboard().server.origin}/drawn?qr=1`])
        }
    await close()
  }, 60_000)
})
