// The comparison with another tool in a browser: a file, its mistakes, and the days.

import { expect, test } from 'bun:test'
import { findBarriers } from '../support/browser/accessibility.ts'
import { chooseOption } from '../support/browser/choose-option.ts'
import { onDashboard } from '../support/browser/dashboard-browser.ts'

onDashboard('the comparison with another tool', (dashboard) => {
  test('shows each day of the file, and says what is wrong with one that is no table', async () => {
    const person = await dashboard().signUp()
    const { page, open, errors, close } = await dashboard().openWindow(person)
    await open('/analytics')
    await page.getByRole('link', { name: 'Compare with another tool' }).click()
    const choose = async (text: string) => {
      await page
        .getByLabel('CSV file')
        .setInputFiles({ name: 'export.csv', mimeType: 'text/csv', buffer: Buffer.from(text) })
      await page.getByRole('button', { name: 'Compare', exact: true }).click()
    }
    await choose('nothing')
    await page.getByText(/has no column named Date/i).waitFor()
    await choose('Date,Clicks\n03/04/2026,7\n')
    await chooseOption(page.getByLabel('Order of dates'), 'Day, month, year')
    await page.getByRole('button', { name: 'Compare', exact: true }).click()
    await page.getByRole('rowheader', { name: '2026-04-03' }).waitFor()
    await choose('date,visitors,pageviews,visits,bounce_rate\n2026-05-10,5,9,6,50\n2026-05-11,1,1,1,0\n')
    await page.getByRole('heading', { name: 'Plausible: visits' }).waitFor()
    await page.getByRole('row', { name: /2026-05-10 6 0 \+6 0 \+6/ }).waitFor()
    expect(await findBarriers(page)).toEqual([])
    expect(errors.filter((error) => !error.includes('422'))).toEqual([])
    await close()
  })
})
