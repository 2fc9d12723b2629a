// The attribution of a submission in the dashboard, with a known visit and with an inferred click.

import { expect, test } from 'bun:test'
import { onDashboard } from '../support/browser/dashboard-browser.ts'
import { full } from '../support/suite.ts'
import { BROWSER_USER_AGENT } from '../support/world.ts'

const SHOP = 'https://shop.example/spring'
const VISITOR = { 'User-Agent': BROWSER_USER_AGENT }

onDashboard('a submission whose link does not track conversions', (dashboard) => {
  test('names the cause, and leads to the switch', async () => {
    const { server } = dashboard()
    const person = await dashboard().signUp()
    const post = async (path: string, body: unknown) =>
      (await person.api(path, { method: 'POST', body })).json.data
    const link = await post('/links', { destinationUrl: SHOP })
    const form = await post('/forms', { name: 'Contact' })
    const workspace = (await person.api('/workspace')).json.data
    await server.click(link.slug, VISITOR)
    const view = JSON.stringify({ w: workspace.publicId, u: SHOP, r: '' })
    const { json } = await server.call('/e', { method: 'POST', body: view, headers: VISITOR })
    await server.call(`/f/${form.formKey}`, {
      method: 'POST',
      body: { email: 'jo@example.com', _service_eid: json.e },
      headers: VISITOR,
    })
    await server.waitUntilShipped()
    const { data } = (await person.api(`/forms/${form.formKey}/submissions`)).json
    expect(data[0]).toMatchObject({ attribution: 'inferred', sessionLinked: true, linkId: link.id })

    const { page, open, close } = await dashboard().openWindow(person)
    await open(`/inbox?open=${data[0].id}`)
    await page.getByText('conversion tracking is off for the link').waitFor()
    expect(await page.getByText('has no snippet').count()).toBe(0)
    await page.getByRole('link', { name: 'Switch on “Track conversions”' }).click()
    const drawer = page.getByRole('dialog', { name: 'Edit link' })
    await drawer.getByText('Password and redirect').click()
    await drawer.getByLabel('Track conversions').check()
    await drawer.getByRole('button', { name: 'Save changes' }).click()
    await drawer.waitFor({ state: 'detached' })
    expect((await person.api(`/links/${link.id}`)).json.data.trackConversions).toBe(true)
    await close()
  })

  full(
    'says of a form without the snippet what is known: the campaign of the click, and the site of the page',
    async () => {
      const { server } = dashboard()
      const person = await dashboard().signUp()
      const post = async (path: string, body: unknown) =>
        (await person.api(path, { method: 'POST', body })).json.data
      const link = await post('/links', { destinationUrl: `${SHOP}?utm_source=news&utm_campaign=spring` })
      const form = await post('/forms', { name: 'Contact' })
      let sent = 0
      const send = (headers: Record<string, string>) =>
        server.call(`/f/${form.formKey}`, {
          method: 'POST',
          body: { n: String(++sent) },
          headers: { ...VISITOR, Referer: 'https://shop.example/', ...headers },
        })
      await server.click(link.slug, VISITOR)
      await server.waitUntilShipped()
      await send({ 'Sec-GPC': '1' })
      await send({})
      const { data } = (await person.api(`/forms/${form.formKey}/submissions`)).json
      const [inferred, secret] = data
      expect(inferred).toMatchObject({ attribution: 'inferred', utmSource: 'news', referrer: null })
      expect(secret).toMatchObject({ attribution: 'none', utmSource: null, referrer: null })

      const { page, open, close } = await dashboard().openWindow(person)
      const siteOnly = page.getByText('shop.example (site only: browsers don’t send the page)')
      await open(`/inbox?open=${inferred.id}`)
      await page.getByText('No visit was recorded: the page of the form has no snippet').waitFor()
      await page.getByText('Campaign: news / spring').waitFor()
      expect(await siteOnly.count()).toBe(2)
      expect(await page.getByText(/Came from|Visit recorded by/).count()).toBe(0)
      await open(`/inbox?open=${secret.id}`)
      await page.getByText('browser asks not to be tracked (Global Privacy Control)').waitFor()
      await siteOnly.first().waitFor()
      expect(await page.getByText(/Clicked|Came from|Direct visit/).count()).toBe(0)
      await close()
    },
  )
})
