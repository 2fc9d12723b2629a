// Clicks, page views and forms on different domains of one workspace are one visit. Those of another workspace do not
// count there.

import { expect, test } from 'bun:test'
import {
  BEHIND_PROXY,
  NAVIGATION_HEADERS,
  nextSenderAddress,
  URLENCODED_TYPE,
} from '../../../tests/support/form-requests.ts'
import { newestSubmission } from '../../../tests/support/newest-submission.ts'
import type { HttpCall } from '../../../tests/support/server/http-call.ts'
import {
  addVerifiedDomain,
  callHost,
  changeDomain,
  putLinkOnDomain,
} from '../../../tests/support/server/verified-domain.ts'
import { onSqlite, type TestServer } from '../../../tests/support/world.ts'

const SHOP = 'https://shop.example'
const DEFAULT = '127.0.0.1'
let domains = 0

/** A workspace with a domain, a link on it and one on the default domain, and a form. */
async function createSite(server: TestServer, form: Record<string, unknown> = {}) {
  const workspace = await server.createWorkspace()
  const domain = `go-${++domains}.brand.example`
  const domainId = await addVerifiedDomain(server, workspace.id, domain)
  const fields = { destinationUrl: `${SHOP}/landing`, trackConversions: true }
  const ownLinkId = await putLinkOnDomain(server, workspace, domain, { slug: 'spring', ...fields })
  const link = await workspace.createLink(fields)
  const { json } = await workspace.post('/forms', { name: 'Contact', ...form })
  return { ...workspace, domain, domainId, ownLinkId, link, formKey: json.data.formKey as string }
}
type Site = Awaited<ReturnType<typeof createSite>>

/** A visitor with one address and one tab, whose requests name the host that they are for. */
function createVisitor(server: TestServer, { publicId, formKey }: Site) {
  const address = nextSenderAddress()
  let eventId: string | undefined
  const call = (host: string, path: string, { headers, ...more }: HttpCall = {}) =>
    callHost(server, host, path, { ...more, headers: { 'X-Forwarded-For': address, ...headers } })
  const post = (host: string, path: string, body: unknown) => call(host, path, { method: 'POST', body })
  return {
    call,
    async click(host: string, slug: string): Promise<string> {
      const { status, headers } = await call(host, `/${slug}`)
      expect([host, slug, status]).toEqual([host, slug, 302])
      return headers.get('location') as string
    },
    async see(host: string, url: string, from = '') {
      const { status, json } = await post(
        host,
        '/e',
        JSON.stringify({ w: publicId, u: url, r: from, e: eventId }),
      )
      eventId = json.e ?? eventId
      return status
    },
    async send(host: string) {
      const answer = await post(host, `/f/${formKey}`, { email: 'jo@example.com', _service_eid: eventId })
      return [answer.status, answer.json]
    },
  }
}

const newest = (site: Site) => newestSubmission(site, site.formKey)

onSqlite(
  'a workspace with a domain of its own',
  (server) => {
    test('gets the click on one domain, the page view on another, and the form on a third address', async () => {
      const site = await createSite(server())
      const routes = [
        { clickOn: site.domain, seenOn: DEFAULT, sentTo: DEFAULT, slug: 'spring', linkId: site.ownLinkId },
        {
          clickOn: DEFAULT,
          seenOn: site.domain,
          sentTo: DEFAULT,
          slug: site.link.slug,
          linkId: site.link.id,
        },
        {
          clickOn: DEFAULT,
          seenOn: DEFAULT,
          sentTo: site.domain,
          slug: site.link.slug,
          linkId: site.link.id,
        },
        {
          clickOn: site.domain,
          seenOn: site.domain,
          sentTo: site.domain,
          slug: 'spring',
          linkId: site.ownLinkId,
        },
      ]
      for (const { clickOn, seenOn, sentTo, slug, linkId } of routes) {
        const visitor = createVisitor(server(), site)
        const landing = await visitor.click(clickOn, slug)
        const from = clickOn === DEFAULT ? server().origin : `https://${clickOn}`
        expect(await visitor.see(seenOn, landing, from)).toBe(200)
        expect(await visitor.send(sentTo)).toEqual([200, { ok: true }])
        expect(await newest(site)).toMatchObject({
          linkId,
          clickId: new URL(landing).searchParams.get('tp_cid'),
          attribution: 'measured',
          sessionLinked: true,
          referrer: null,
        })
      }
      const [first] = (await site.api(`/submissions/${(await newest(site)).id}/attribution`)).json.data
      expect(first.shortUrl).toBe(`${server().origin.replace(DEFAULT, site.domain)}/spring`)
    })

    test('gets the click of a form without the snippet by the address of its page', async () => {
      const site = await createSite(server())
      const visitor = createVisitor(server(), site)
      const Referer = await visitor.click(site.domain, 'spring')
      const headers = { Referer, 'Content-Type': URLENCODED_TYPE }
      await visitor.call(DEFAULT, `/f/${site.formKey}`, { method: 'POST', body: 'a=b', headers })
      expect(await newest(site)).toMatchObject({ linkId: site.ownLinkId, attribution: 'measured' })
    })

    test('has no source that is a short domain, whichever workspace has it, and from the moment on at which it is verified', async () => {
      const [site, other] = [await createSite(server()), await createSite(server())]
      const from = async (host: string) => {
        const visitor = createVisitor(server(), site)
        await visitor.see(DEFAULT, `${SHOP}/`, `https://${host}/x`)
        await visitor.send(DEFAULT)
        return (await newest(site)).referrer
      }
      expect(await from(site.domain)).toBeNull()
      expect(await from(`${other.domain}:8443`)).toBeNull()
      expect(await from(`www.${other.domain}`)).toBe(other.domain)
      await changeDomain(server(), other.domainId, { verified_at: null })
      expect(await from(other.domain)).toBe(other.domain)
      await changeDomain(server(), other.domainId, { verified_at: 1 })
      expect(await from(other.domain)).toBeNull()
    })

    test('has no clicks whose source is a short domain', async () => {
      const [site, other] = [await createSite(server()), await createSite(server())]
      const visitor = createVisitor(server(), site)
      for (const host of [other.domain, site.domain, 'news.example'])
        await visitor.call(DEFAULT, `/${site.link.slug}`, { headers: { Referer: `https://${host}/x` } })
      await server().waitUntilShipped()
      const { data } = (await site.api('/analytics/clicks?groupBy=referrer')).json
      expect(data).toMatchObject([
        { referrer: '(direct)', clicks: 2 },
        { referrer: 'news.example', clicks: 1 },
      ])
    })

    test('shows the pages of its forms on the domain that the form was sent to', async () => {
      const settings = {
        afterSubmit: 'hosted',
        onError: 'hosted',
        requiredFields: ['name'],
        pageUrl: `${SHOP}/contact`,
      }
      const site = await createSite(server(), { ...settings, successMessage: 'We call you.' })
      const send = (body: string) =>
        callHost(server(), site.domain, `/f/${site.formKey}`, {
          method: 'POST',
          body,
          headers: {
            ...NAVIGATION_HEADERS,
            'Content-Type': URLENCODED_TYPE,
            'X-Forwarded-For': nextSenderAddress(),
          },
        })
      const thanks = (await send('name=Ada')).headers.get('location') as string
      expect(thanks).toBe(`${server().origin.replace(DEFAULT, site.domain)}/f/${site.formKey}/thanks`)
      const page = await callHost(server(), site.domain, new URL(thanks).pathname)
      expect([page.status, page.text.includes('We call you.')]).toEqual([200, true])
      expect(page.text).toContain(`href="${SHOP}/contact">Back to shop.example</a>`)
      const mistake = await send('name=')
      expect([mistake.status, mistake.text.includes(`href="${SHOP}/contact"`)]).toEqual([422, true])
      expect((await send('')).status).toBe(422)
      expect(page.text + mistake.text).not.toContain(DEFAULT)
    })

    test('leads to its own thanks page after a form that knows no way back', async () => {
      const site = await createSite(server())
      const { headers } = await callHost(server(), site.domain, `/f/${site.formKey}`, {
        method: 'POST',
        body: 'a=b',
        headers: { ...NAVIGATION_HEADERS, 'Content-Type': URLENCODED_TYPE },
      })
      expect(headers.get('location')).toBe(`${server().origin.replace(DEFAULT, site.domain)}/thanks`)
      expect((await callHost(server(), site.domain, '/thanks')).status).toBe(200)
    })

    test('shows and takes nothing of another workspace on its domain', async () => {
      const [site, other] = [
        await createSite(server()),
        await createSite(server(), { successMessage: 'Call 0900.' }),
      ]
      const foreign = createVisitor(server(), other)
      expect(await foreign.send(site.domain)).toEqual([404, { error: 'Form not found' }])
      expect(await foreign.see(site.domain, `${SHOP}/`)).toBe(404)
      // The second one is answered by the fast path, which knows the workspace now.
      expect(await foreign.see(DEFAULT, `${SHOP}/`)).toBe(200)
      expect(await foreign.see(site.domain, `${SHOP}/`)).toBe(404)
      const thanks = await foreign.call(site.domain, `/f/${other.formKey}/thanks`)
      expect([thanks.status, thanks.text.includes('0900')]).toEqual([404, false])
      const keys = `/e/forms?keys=${other.formKey},${site.formKey}`
      expect(Object.keys((await foreign.call(site.domain, keys)).json.forms)).toEqual([site.formKey])
      expect(Object.keys((await foreign.call(DEFAULT, keys)).json.forms)).toHaveLength(2)
      expect(await foreign.send(other.domain)).toEqual([200, { ok: true }])
      // With the domain, the right to answer on it goes to its next holder.
      await changeDomain(server(), site.domainId, { verified_at: null })
      await addVerifiedDomain(server(), other.id, site.domain)
      expect(await foreign.send(site.domain)).toEqual([200, { ok: true }])
      expect(await createVisitor(server(), site).send(site.domain)).toEqual([
        404,
        { error: 'Form not found' },
      ])
    })

    test('has the same snippet on each of its domains', async () => {
      const site = await createSite(server())
      const [own, standard] = await Promise.all(
        [site.domain, DEFAULT].map((host) => callHost(server(), host, '/t.js')),
      )
      expect(own?.status).toBe(200)
      expect(own?.text).toBe(standard?.text as string)
      const [, pinned] = /<[^>]*(\/e\/t-\w+\.js)>/.exec(own?.headers.get('link') ?? '') ?? []
      expect((await callHost(server(), site.domain, pinned ?? '')).text).toBe(own?.text as string)
    })
  },
  BEHIND_PROXY,
)
