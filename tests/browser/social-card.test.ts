// The social card in the editor of a link: its fields, the card that the destination has itself, and the preview as each
// service draws it. The pages and images that the server fetches come from a real server with TLS.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import tls from 'node:tls'
import type { Page } from 'playwright-core'
import type { LinkResource } from '../../server/features/links/schema.ts'
import { findBarriers } from '../support/browser/accessibility.ts'
import { type DashboardWindow, onDashboard } from '../support/browser/dashboard-browser.ts'
import { createCertificate } from '../support/processes/certificate.ts'
import { full } from '../support/suite.ts'
import { until } from '../support/until.ts'
import type { SignedUpUser } from '../support/users/sign-up.ts'

/** The operator allows this private address. */
const SITE = '127.0.0.2'
const SLACK = { 'User-Agent': 'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)' }
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const HOSTILE = `<img src=x onerror="alert(1)">`

onDashboard(
  'the social card of a link',
  (dashboard) => {
    let person: SignedUpUser
    let window: DashboardWindow
    let page: Page
    let site: ReturnType<typeof Bun.serve>
    const directory = mkdtempSync(join(tmpdir(), 'towpath-card-'))
    const authorities = tls.getCACertificates('default')
    /** Paths that were requested from the site. */
    const fetched: string[] = []
    /** Requests of the browser to other servers. */
    const foreign: string[] = []

    beforeAll(async () => {
      const { cert, key } = createCertificate(directory, SITE)
      tls.setDefaultCACertificates([...authorities, readFileSync(cert, 'utf8')])
      site = Bun.serve({
        port: 0,
        hostname: SITE,
        tls: { cert: readFileSync(cert), key: readFileSync(key) },
        fetch(request) {
          const { pathname } = new URL(request.url)
          fetched.push(pathname)
          if (pathname === '/card.png') return new Response(PNG, { headers: { 'Content-Type': 'image/png' } })
          const card = `<title>x</title><meta property="og:title" content="Its own title">
            <meta property="og:description" content="Its own words"><meta property="og:image" content="/card.png">`
          const html = pathname === '/card' ? card : pathname === '/plain' ? '<p>Nothing' : undefined
          return html === undefined
            ? new Response('Not here', { status: 404 })
            : new Response(html, { headers: { 'Content-Type': 'text/html' } })
        },
      })
      person = await dashboard().signUp()
      window = await dashboard().openWindow(person)
      page = window.page
      page.on('request', (request) => {
        const isOwn = request.url().startsWith(`${dashboard().server.origin}/`)
        if (!isOwn && !/^(data|blob):/.test(request.url())) foreign.push(request.url())
      })
      await window.open('/links')
    })
    afterAll(async () => {
      await window?.close()
      site?.stop(true)
      tls.setDefaultCACertificates(authorities)
      rmSync(directory, { recursive: true })
    })

    const at = (path: string) => `https://${SITE}:${site.port}${path}`
    const create = async (fields: Partial<LinkResource> & { password?: string }): Promise<LinkResource> =>
      (await person.api('/links', { method: 'POST', body: fields })).json.data
    const read = async (id: number): Promise<LinkResource> => (await person.api(`/links/${id}`)).json.data
    const drawer = () => page.getByRole('dialog')
    const preview = () => drawer().getByRole('region', { name: 'Preview of the card' })
    const field = (label: string) => drawer().getByLabel(label, { exact: true })
    async function edit(id: number) {
      await window.visit('/links')
      await window.visit(`/links?edit=${id}`)
      await drawer().getByText('Social card').click()
      await preview().waitFor()
    }
    async function save() {
      await drawer().getByRole('button', { name: 'Save changes' }).click()
      await drawer().waitFor({ state: 'detached' })
    }
    const isImageDrawn = () =>
      preview()
        .locator('img')
        .evaluateAll((images) =>
          images.map((image) => (image as unknown as { naturalWidth: number }).naturalWidth),
        )
        .then((widths) => widths.some((width) => width > 0))

    test('is typed, counted, shown as each service draws it, saved, and then what unfurlers get', async () => {
      const { id, slug, domain } = await create({ destinationUrl: at('/card') })
      await edit(id)
      await field('Card title').fill('Spring 🌱')
      await drawer().getByText('8 of 120 characters').waitFor()
      await field('Card description').fill(HOSTILE)
      await drawer().getByText('30 of 240 characters').waitFor()
      await field('Card image').fill(at('/card.png'))
      await until('the image', isImageDrawn)
      await preview().getByText('1 × 1 pixels: services may show it small').waitFor()
      // By keyboard: the arrows go from service to service.
      await preview().getByRole('radio', { name: 'X', exact: true }).focus()
      for (const service of ['Facebook', 'Slack', 'WhatsApp']) {
        await page.keyboard.press('ArrowRight')
        expect(await preview().getByRole('radio', { name: service }).isChecked()).toBe(true)
        await preview().getByText('Spring 🌱').waitFor()
        await preview().getByText(HOSTILE).waitFor()
        await preview().getByText(domain, { exact: true }).waitFor()
        await until(`the image for ${service}`, isImageDrawn)
      }
      await preview().getByText('Dark', { exact: true }).click()
      expect(await findBarriers(page, 'dialog, [role=dialog]', 'label')).toEqual([])
      await save()
      const card = { previewTitle: 'Spring 🌱', previewDescription: HOSTILE, previewImage: at('/card.png') }
      expect(await read(id)).toMatchObject(card)
      const { text } = await dashboard().server.call(`/${slug}`, { headers: SLACK })
      expect(text).toContain('<meta property="og:title" content="Spring 🌱">')

      await edit(id)
      for (const label of ['Card title', 'Card description', 'Card image']) await field(label).fill('')
      await save()
      expect(await read(id)).toMatchObject({
        previewTitle: null,
        previewDescription: null,
        previewImage: null,
      })
    }, 120_000)

    full(
      'is the destination’s own one where nothing is set, which is fetched and taken over on request only',
      async () => {
        const { id } = await create({ destinationUrl: at('/card') })
        const before = fetched.length
        await edit(id)
        await preview().getByText('Services show the destination’s own card').waitFor()
        expect(fetched.length).toBe(before)
        await preview().getByRole('button', { name: 'Show the destination’s card' }).click()
        await preview().getByText('Its own title').waitFor()
        await preview().getByText('This is the destination’s own card.').waitFor()
        await until('the image', isImageDrawn)
        expect(await field('Card title').inputValue()).toBe('')
        await drawer().getByRole('button', { name: 'Take from the destination' }).click()
        await until('the title', async () => (await field('Card title').inputValue()) === 'Its own title')
        await field('Card title').fill('Mine')
        await save()
        expect(await read(id)).toMatchObject({
          previewTitle: 'Mine',
          previewDescription: 'Its own words',
          previewImage: at('/card.png'),
        })
      },
      120_000,
    )

    full(
      'says what is wrong: no card there, no image, a refused URL, a password',
      async () => {
        const { id } = await create({ destinationUrl: at('/plain'), password: 'x' })
        await edit(id)
        await drawer().getByText('A link with a password shows no card.').waitFor()
        await drawer().getByRole('button', { name: 'Take from the destination' }).click()
        await drawer().getByText('The page has no title, description or image for a card.').waitFor()
        await field('Card title').fill('Title')
        await field('Card image').fill(at('/nothing.png'))
        await preview().getByText('The image can’t be shown. It answers with status 404.').waitFor()
        await field('Card image').fill('http://example.com/a.png')
        await preview().getByText('The image needs an https URL.').waitFor()
        // The section opens for the error, and the field has the focus.
        await drawer().getByText('Social card').click()
        await preview().waitFor({ state: 'detached' })
        await drawer().getByRole('button', { name: 'Save changes' }).click()
        await drawer().getByText('Must be an https URL').waitFor()
        const isFocused = 'document.activeElement.value === "http://example.com/a.png"'
        await until('the focus', () => page.evaluate<boolean>(isFocused))
        await field('Card image').fill('')
        await save()
        expect(await read(id)).toMatchObject({ previewTitle: 'Title', previewImage: null })
      },
      120_000,
    )

    test('makes the browser ask no other server, and breaks no rule of the page', () => {
      expect(foreign).toEqual([])
      expect(window.errors.filter((error) => !error.includes('422'))).toEqual([])
    })
  },
  { environment: { WEBHOOK_ALLOW_CIDRS: `${SITE}/32` } },
)
