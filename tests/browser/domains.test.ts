// Domains in the dashboard, from the name to the last link, with a real DNS server in Chromium.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { findBarriers } from '../support/browser/accessibility.ts'
import { chooseOption, readChoice } from '../support/browser/choose-option.ts'
import { type DashboardWindow, onDashboard } from '../support/browser/dashboard-browser.ts'
import { type DnsServer, startDnsServer } from '../support/fake-servers/dns-server.ts'
import { addVerifiedDomain, callHost } from '../support/server/verified-domain.ts'
import { full } from '../support/suite.ts'
import { until } from '../support/until.ts'
import type { SignedUpUser } from '../support/users/sign-up.ts'

const NAME = 'go.shop.example'
const DESTINATION = 'https://example.com/sale'

const dns: DnsServer = await startDnsServer()

onDashboard(
  'domains in the dashboard',
  (dashboard) => {
    let person: SignedUpUser
    let window: DashboardWindow
    let page: Page

    beforeAll(async () => {
      person = await dashboard().signUp()
      window = await dashboard().openWindow(person)
      page = window.page
    })
    afterAll(() => dns.stop())

    const getDomain = async () => (await person.api('/domains')).json.data[0]
    const button = (name: string) => page.getByRole('button', { name, exact: true })
    const dialog = () => page.getByRole('dialog')
    const hint = (text: string) => page.getByText(text).first().waitFor()

    test('an empty page says what will happen, and a wrong name is named at its field', async () => {
      await window.open('/domains')
      await page.getByText('2. Set two DNS records').waitFor()
      await page.keyboard.press('n')
      const name = dialog().getByLabel('Domain', { exact: true })
      await name.fill('127.0.0.1')
      await dialog().getByRole('button', { name: 'Add domain' }).click()
      await hint('Must be a name, not an IP address')
      // The address of the page is what people have in their clipboard.
      await name.fill(`https://${NAME}/`)
      await dialog().getByLabel('Case-sensitive short links').check()
      await dialog().getByRole('button', { name: 'Add domain' }).click()
      await page.getByRole('heading', { name: NAME }).waitFor()
      expect(await getDomain()).toMatchObject({ domain: NAME, verified: false, caseSensitive: true })
    }, 60_000)

    test('the page shows each record to set, and turns to verified by itself when they are there', async () => {
      const [proof, address] = (await getDomain()).dns
      for (const text of [proof.name, '_towpath.go', proof.value, address.value])
        await page.getByText(text, { exact: true }).first().waitFor()
      await hint(`DNS has no TXT record ${proof.name}`)
      expect(await page.getByText('Missing', { exact: true }).count()).toBe(2)
      expect(await findBarriers(page)).toEqual([])
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
      await page.getByRole('button', { name: 'Copy value of the TXT record' }).click()
      expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(proof.value)

      dns.set('TXT', proof.name, proof.value)
      await hint(`${NAME} is verified`)
      await hint(`DNS leads nobody to ${NAME} yet`)
      dns.set(address.type, address.name, address.value)
      await button('Check now').click()
      await hint('The domain is verified, and its short links work.')
      expect(await page.getByText('Found', { exact: true }).count()).toBe(2)
    }, 60_000)

    test('mistakes in the settings are named at their fields, and right ones are stored', async () => {
      await page.getByLabel('Android app links').fill('[{]')
      await page.getByLabel('Root URL').fill('javascript:1')
      await button('Save').click()
      await hint('This isn’t valid JSON')
      expect(await page.getByLabel('Android app links').getAttribute('aria-invalid')).toBe('true')
      await page.getByLabel('Android app links').fill('{}')
      await button('Save').click()
      await hint('Must be a list of objects')
      await page.getByLabel('Android app links').fill('[]')
      await button('Save').click()
      await hint('Must be an http or https URL')
      await page.getByLabel('Root URL').fill('example.com')
      // Typed text stays while another page is open.
      await window.visit('/settings/tags')
      await window.visit(`/domains/${(await getDomain()).id}`)
      await button('Save').click()
      await hint('All changes saved')
      expect(await getDomain()).toMatchObject({ rootUrl: 'https://example.com/', assetLinks: [] })
    }, 60_000)

    test('the primary domain is chosen for new links, whose short links tell upper from lower case', async () => {
      await page.getByLabel('Primary domain').click()
      await hint(`New links use ${NAME}`)
      await window.visit('/links?new=1')
      const domain = dialog().getByLabel('Domain', { exact: true })
      await until('the primary domain', async () => (await readChoice(domain)) === NAME)
      await dialog().getByLabel('Destination URL').fill(DESTINATION)
      await dialog().getByLabel('Short link').fill('Sale')
      await hint('This short link is free.')
      await button('Create link').click()
      await hint(`${NAME}/Sale is live`)

      const host = new URL(dashboard().server.origin).host
      await window.visit('/links?new=1')
      await dialog().getByLabel('Destination URL').fill(DESTINATION)
      await dialog().getByLabel('Short link').fill('sale')
      await hint('This short link is free.')
      await chooseOption(domain, host)
      await dialog().getByLabel('Short link').fill('elsewhere')
      await button('Create link').click()
      await hint(`${host}/elsewhere is live`)
      const lowerCase = { destinationUrl: DESTINATION, slug: 'sale', domain: NAME }
      expect((await person.api('/links', { method: 'POST', body: lowerCase })).status).toBe(201)
      await window.open('/links')
      await chooseOption(page.getByLabel('Domain', { exact: true }), NAME)
      await hint('2 links')
      expect(await page.getByRole('link', { name: '/elsewhere' }).count()).toBe(0)
    }, 60_000)

    full(
      'clicks are told apart by domain',
      async () => {
        const { server } = dashboard()
        const answer = await callHost(server, NAME, '/Sale')
        expect([answer.status, answer.headers.get('location')]).toEqual([
          302,
          expect.stringContaining(DESTINATION),
        ])
        await server.click('elsewhere')
        await server.waitUntilShipped()
        await window.visit('/analytics')
        await page.getByRole('tab', { name: 'Domains' }).click()
        const rows = page.getByRole('list', { name: 'Domains by clicks' }).getByRole('listitem')
        await rows.filter({ hasText: NAME }).waitFor()
        expect(await rows.count()).toBe(2)
        await rows.getByRole('button', { name: new RegExp(`^${NAME}`) }).click()
        await until('the filter', async () => new URL(page.url()).searchParams.get('domain') === NAME)
      },
      60_000,
    )

    test('a link that moves is warned about', async () => {
      const host = new URL(dashboard().server.origin).host
      const { id } = (await person.api('/links?search=Sale')).json.data.find(
        ({ slug }: { slug: string }) => slug === 'sale',
      )
      await window.visit(`/links?edit=${id}`)
      await chooseOption(dialog().getByLabel('Domain', { exact: true }), host)
      await hint(`The link moves. ${NAME}/sale will stop working.`)
      await hint('This short link is free.')
      await dialog().getByLabel('Short link').fill('moved')
      await button('Save changes').click()
      await hint('Link saved')
      expect((await person.api(`/links/${id}`)).json.data).toMatchObject({ domain: host, slug: 'moved' })
    }, 60_000)

    full(
      'the links of a deleted domain move to another one, and slugs that are taken there are named',
      async () => {
        const { server } = dashboard()
        const host = new URL(server.origin).host
        await addVerifiedDomain(server, person.workspaceId, 'spare.example.org')
        const body = { destinationUrl: DESTINATION, slug: 'sale', domain: 'spare.example.org' }
        const taken = (await person.api('/links', { method: 'POST', body })).json.data
        const openDialog = async (name: string) => {
          await page.getByRole('button', { name: `More for ${name}` }).click()
          await page.getByRole('menuitem', { name: 'Delete' }).click()
        }
        await window.open('/domains')
        await openDialog(NAME)
        await dialog().getByText('1 link is on this domain').waitFor()
        expect(await findBarriers(page)).toEqual([])
        await chooseOption(dialog().getByLabel('Move the links to'), 'spare.example.org')
        await button('Move 1 link and delete').click()
        await dialog().getByRole('alert').filter({ hasText: 'Sale' }).waitFor()
        await chooseOption(dialog().getByLabel('Move the links to'), host)
        await button('Move 1 link and delete').click()
        await hint(`${NAME} deleted. Its links are on ${host} now.`)
        const links = (await person.api(`/links?domain=${host}&sort=slug&order=asc`)).json.data
        expect(links.map(({ slug }: { slug: string }) => slug)).toEqual(['elsewhere', 'moved', 'Sale'])

        // A link in the trash is no link of the list, and has its place on the domain all the same.
        await person.api(`/links/${taken.id}`, { method: 'DELETE' })
        await window.open('/domains')
        await openDialog('spare.example.org')
        await dialog().getByText('No link is on this domain.').waitFor()
        await button('Delete domain').click()
        await dialog().getByText('Links in the trash are still on this domain').waitFor()
        await dialog().getByRole('combobox', { name: 'Move the links to' }).waitFor()
      },
      60_000,
    )

    full(
      'a hidden page does not look, and looks when it is shown again',
      async () => {
        const { id } = (
          await person.api('/domains', { method: 'POST', body: { domain: 'wait.example.org' } })
        ).json.data
        const hidden = await dashboard().openWindow(person, { inNewProfile: true })
        await hidden.page.clock.install()
        let checks = 0
        hidden.page.on('request', (request) => {
          if (request.url().endsWith(`/domains/${id}/verify`)) checks += 1
        })
        await hidden.open(`/domains/${id}`)
        await until('the first check', async () => checks > 0)
        await hidden.page.getByText('Last checked').waitFor()
        await hidden.page.evaluate(setVisibility('hidden'))
        const before = checks
        await hidden.page.clock.fastForward(600_000)
        expect(checks).toBe(before)
        await hidden.page.evaluate(setVisibility('visible'))
        await until('a check', async () => checks > before)
        await hidden.close()
        // The browser writes every refused request into its console.
        expect(window.errors.filter((text) => !/status of (409|422)/.test(text))).toEqual([])
      },
      120_000,
    )
  },
  { environment: { DNS_SERVERS: dns.address } },
)

const setVisibility = (state: 'hidden' | 'visible') => `(() => {
  Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true })
  document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))
})()`
