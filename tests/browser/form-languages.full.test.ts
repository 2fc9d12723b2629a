// The pages of this server in the sender's language, in a real browser.

import { expect, test } from 'bun:test'
import { onCustomerSite } from '../support/browser/customer-site.ts'

onCustomerSite('a form in German', (site) => {
  test('says its mistakes and its thanks in German, in the words of its owner where there are some', async () => {
    const { createWorkspace, addPage, openVisitor } = site()
    const ws = await createWorkspace()
    const form = await ws.createForm({
      afterSubmit: 'hosted',
      onError: 'hosted',
      requiredFields: ['name'],
      rules: { telefon: { type: 'tel' }, plz: { pattern: '\\d{5}' } },
      messages: { de: { 'plz.pattern': 'Eine Postleitzahl hat fünf Ziffern' } },
    })
    const url =
      addPage(`<form action="${form.endpoint}" method="post"><input type="hidden" name="_lang" value="de">
      <input name="name"><input name="telefon"><input name="plz"><button>Senden</button></form>`)
    const { page, errors, close } = await openVisitor()
    await page.goto(url)
    await page.fill('[name=telefon]', 'ruf an')
    await page.fill('[name=plz]', '1234')
    await page.click('button')
    await page.locator('h1', { hasText: 'Bitte das Formular prüfen' }).waitFor()
    expect(await page.getAttribute('html', 'lang')).toBe('de')
    expect(await page.locator('[role=alert] li').allTextContents()).toEqual([
      'Name: Dieses Feld ist erforderlich',
      'Telefon: Bitte eine gültige Telefonnummer eingeben',
      'Plz: Eine Postleitzahl hat fünf Ziffern',
    ])
    await page.goto(url)
    await page.fill('[name=name]', 'Ada')
    await page.click('button')
    await page.locator('h1', { hasText: 'Vielen Dank' }).waitFor()
    expect(new URL(page.url()).search).toBe('?lang=de')
    expect(await page.textContent('.message')).toBe('Die Nachricht ist angekommen.')
    expect(errors).toEqual([])
    await close()
  })
})
