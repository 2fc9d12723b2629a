// The export of submissions in a real browser: what the inbox shows, and everything only where somebody asks for it.

import { expect, test } from 'bun:test'
import { chooseOption } from '../support/browser/choose-option.ts'
import { onDashboard } from '../support/browser/dashboard-browser.ts'

onDashboard('the export of submissions', (dashboard) => {
  test('has what the inbox shows, without spam and tests', async () => {
    const { signUp, openWindow, server } = dashboard()
    const person = await signUp()
    const spam = { words: ['casino'] }
    const form = (await person.api('/forms', { method: 'POST', body: { name: 'Contact', spam } })).json.data
    const { token } = (await person.api(`/forms/${form.formKey}/test`, { method: 'POST' })).json.data
    for (const fields of [
      { message: 'hello' },
      { message: 'casino' },
      { message: 'only a test', _service_test: token },
    ])
      await server.submit(form.formKey, fields)
    const { page, open, errors, close } = await openWindow(person)
    await open('/inbox')
    await page.locator('#inbox-list').getByText('Test', { exact: true }).waitFor()
    // A page with a scrollbar and one without are equally wide.
    expect(await page.evaluate<string>('getComputedStyle(document.documentElement).scrollbarGutter')).toBe(
      'stable',
    )

    const download = async (everything: boolean) => {
      await page.getByRole('button', { name: 'More', exact: true }).click()
      await page.getByRole('menuitem', { name: 'Export submissions' }).click()
      const dialog = page.getByRole('dialog')
      await chooseOption(dialog.getByLabel('Format'), /NDJSON/)
      if (everything) await dialog.getByLabel('Only what the inbox shows').click()
      const file = page.waitForEvent('download')
      await dialog.getByRole('button', { name: 'Download' }).click()
      const text = await Bun.file(await (await file).path()).text()
      await dialog.waitFor({ state: 'detached' })
      return ['hello', 'casino', 'only a test'].filter((word) => text.includes(word))
    }
    expect(await download(false)).toEqual(['hello'])
    expect(await download(true)).toEqual(['hello', 'casino'])
    expect(errors).toEqual([])
    await close()
  }, 60_000)
})
