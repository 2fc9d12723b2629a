// The destinations page in a browser: the setting, the list, the repair of all links and its undo.

import { expect, test } from 'bun:test'
import { findBarriers } from '../support/browser/accessibility.ts'
import { chooseOption } from '../support/browser/choose-option.ts'
import { onDashboard } from '../support/browser/dashboard-browser.ts'
import { until } from '../support/until.ts'

const BROKEN = 'https://example.com/broken'

onDashboard('the list of destinations', (dashboard) => {
  test('switches the check on, repairs all links of one, and takes it back', async () => {
    const person = await dashboard().signUp()
    const { page, open, errors, close } = await dashboard().openWindow(person)
    const ids: number[] = []
    for (const slug of ['one', 'two']) {
      const made = await person.api('/links', { method: 'POST', body: { destinationUrl: BROKEN, slug } })
      ids.push(made.json.data.id)
    }
    const readUrls = () =>
      Promise.all(ids.map(async (id) => (await person.api(`/links/${id}`)).json.data.destinationUrl))
    await open('/links')
    await page.getByRole('link', { name: 'Destinations' }).click()
    await page.getByRole('heading', { name: 'Destinations aren’t watched' }).waitFor()
    await page.getByRole('button', { name: 'Check destinations daily' }).click()
    const row = page.getByRole('listitem', { name: 'example.com/broken' })
    await row.getByText('Waiting').waitFor()
    await dashboard().server.app.db.write((connection) =>
      connection
        .updateTable('destinations')
        .set({ state: 0, status: 404, message: 'It answers with status 404.', since: 1, checked_at: 1 })
        .where('workspace_id', '=', person.workspaceId)
        .execute(),
    )
    await page.reload()
    await chooseOption(page.getByLabel('State'), 'With problems')
    await row.getByText('It answers with status 404.').waitFor()
    expect(await findBarriers(page)).toEqual([])
    await row.getByRole('button', { name: 'Repair all links' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('New destination URL').fill('example.com/new')
    await dialog.getByRole('button', { name: 'Repair 2 links' }).click()
    await page.getByText('2 links repaired').waitFor()
    expect(await readUrls()).toEqual(['https://example.com/new', 'https://example.com/new'])
    await page.getByRole('heading', { name: 'None in this state' }).waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await until('the old destination', async () => (await readUrls()).every((url) => url === BROKEN))
    expect(errors).toEqual([])
    await close()
  })
})
