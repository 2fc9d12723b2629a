// Outcomes on the dashboard: set on a lead in the inbox, and counted in the funnel.

import { expect, test } from 'bun:test'
import { chooseOption } from '../support/browser/choose-option.ts'
import { onDashboard } from '../support/browser/dashboard-browser.ts'
import { until } from '../support/until.ts'
import { BROWSER_USER_AGENT } from '../support/world.ts'

const SHOTS = process.env.OUTCOME_SHOTS

onDashboard('outcomes', (dashboard) => {
  test('are set on a lead, change, are taken back, and show their value in the funnel', async () => {
    const { server } = dashboard()
    const person = await dashboard().signUp()
    const headers = { 'User-Agent': BROWSER_USER_AGENT }
    const { slug } = (
      await person.api('/links', { method: 'POST', body: { destinationUrl: 'https://shop.example/' } })
    ).json.data
    await server.click(slug, headers)
    await server.waitUntilShipped()
    const { formKey } = (await person.api('/forms', { method: 'POST', body: { name: 'Quote' } })).json.data
    const body = { email: 'ada@example.com', message: 'A quote, please' }
    await server.call(`/f/${formKey}`, { method: 'POST', body, headers })
    const [lead] = (await person.api('/submissions')).json.data
    const yen = { submissionId: lead.id, stage: 'won', value: '5000', currency: 'JPY', externalId: 'api' }
    await person.api('/outcomes', { method: 'POST', body: yen })

    const { page, open, visit, close, errors } = await dashboard().openWindow(person)
    await open(`/inbox?open=${lead.id}`)
    const section = page.getByRole('region', { name: 'Outcome' })
    await section.getByText('¥5,000').waitFor()
    const set = async (stage: string, value: string) => {
      await chooseOption(section.getByLabel('Stage'), stage)
      await section.getByLabel('Value').fill(value)
      await section.getByRole('button', { name: 'Set outcome' }).click()
    }
    await set('Won', '1,5,0')
    await section.getByText('Enter an amount, such as 1,250.00.').waitFor()
    await set('Won', '12,50')
    await section.getByText('€12.50').waitFor()
    await set('Won', '1,299.50')
    await section.getByText('€1,299.50').waitFor()
    // The same lead is decided once here.
    await set('Lost', '')
    await section.getByRole('button', { name: 'Take back “Lost”' }).waitFor()
    expect(await section.getByText('€1,299.50').count()).toBe(0)
    await set('Won', '1300')
    await section.getByText('€1,300.00').waitFor()
    await set('Qualified', '')
    await section.getByRole('button', { name: 'Take back “Qualified”' }).waitFor()
    // The row in the list tells it at once, and the list can be narrowed to it.
    await page
      .getByRole('link', { name: /A quote, please/ })
      .getByText('Qualified', { exact: true })
      .waitFor()
    if (SHOTS) await page.screenshot({ path: `${SHOTS}/inbox.png` })
    await section.getByRole('button', { name: 'Take back “Qualified”' }).click()
    await until('the focus on the next one', () =>
      page.evaluate('document.activeElement.matches("li button")'),
    )
    await until('no qualification', async () => (await person.api('/outcomes')).json.total === 2)

    await visit('/analytics')
    const funnel = page.locator('section', { has: page.getByRole('heading', { name: 'Conversion funnel' }) })
    await funnel.scrollIntoViewIfNeeded()
    await funnel.getByRole('columnheader', { name: 'Value' }).waitFor()
    await funnel.getByText('€1,300.00').first().waitFor()
    await chooseOption(funnel.getByLabel('Currency'), 'JPY')
    await funnel.getByText('¥5,000').first().waitFor()
    if (SHOTS) await funnel.screenshot({ path: `${SHOTS}/funnel.png` })
    expect(errors).toEqual([])
    await close()
  })
})
