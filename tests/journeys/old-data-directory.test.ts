// An upgrade keeps all data: the current server starts on the data directory of each release since 0.1.0.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  adoptInstallation,
  createKeys,
  type Installation,
  type ServerProcess,
} from '../faults/server-process.ts'
import { startDnsServer } from '../support/fake-servers/dns-server.ts'
import { proveDomain } from '../support/prove-domain.ts'
import { atScale } from '../support/suite.ts'
import { until } from '../support/until.ts'
import {
  listReleases,
  RELEASE_PERSON,
  readReleaseData,
  unpackReleaseData,
} from '../support/upgrades/release-data.ts'

const { origin, email, password } = RELEASE_PERSON

const dns = await startDnsServer()
afterAll(() => dns.stop())

/*
 * Each directory was written with SQLite before a SIGKILL. It has four links, a tag, a form with one submission, a webhook
 * channel, a user, some clicks in the engine and two clicks in the spool only: five in all.
 */
test('the releases begin with 0.1.0', () => expect(listReleases()[0]).toBe('0.1.0'))

/** Those in between are opened in the full suite. */
const OPENED = atScale({ quick: listReleases().slice(0, 1), full: listReleases(), soak: listReleases() })

describe.each(OPENED)('a data directory of version %s', (version) => {
  let installation: Installation
  let server: ServerProcess
  let key: string
  let formKey: string

  beforeAll(async () => {
    const data = await readReleaseData(version)
    key = data.key
    formKey = data.formKey
    installation = adoptInstallation(unpackReleaseData(version), [key])
    server = await installation.start({ environment: { TOWPATH_URL: origin, DNS_SERVERS: dns.address } })
  }, 60_000)

  afterAll(() => installation?.end())

  const getData = async (path: string) => (await server.api(key, path)).json.data

  test('has its links with tags, rules and counts, and they redirect', async () => {
    const links = await getData('/links?archived=false&sort=createdAt&order=asc')
    expect(links).toMatchObject([
      {
        slug: 'spring',
        title: 'Spring sale',
        tags: [{ name: 'newsletter' }],
        leads: 1,
        trackConversions: true,
      },
      { slug: 'locked', passwordProtected: true },
      {
        slug: 'rules',
        externalId: 'crm-7',
        comments: 'kept',
        geoTargeting: { DE: 'https://example.com/de' },
      },
    ])
    const { status, headers } = await server.click('rules')
    expect([status, headers.get('location')]).toEqual([302, 'https://example.com/ios'])
    expect((await server.click('closed')).status).toBe(404)
  })

  test('opens a link with its password', async () => {
    const send = (password: string) =>
      fetch(`${server.origin}/locked`, {
        method: 'POST',
        body: new URLSearchParams({ password }),
        redirect: 'manual',
      })
    expect((await send('open barley')).status).not.toBe(303)
    expect((await send('open sesame')).headers.get('location')).toBe('https://example.com/secret')
  })

  test('counts the clicks that the killed server had not imported yet', async () => {
    await until('the link counts five', async () => (await getData('/links/1')).clicks === 5)
    await until('analytics count five', async () => {
      const [first] = await getData('/analytics/clicks?groupBy=slug&interval=all')
      return first.slug === 'spring' && first.clicks === 5
    })
  })

  test('has the submission with its attributed link, and takes new submissions', async () => {
    const [submission] = await getData(`/forms/${formKey}/submissions`)
    expect(submission).toMatchObject({
      fields: { email: 'bob@example.com', message: 'Hello' },
      linkId: 1,
      attribution: 'inferred',
    })
    const sent = await server.submit(formKey, 'email=eve%40example.com', { Accept: 'application/json' })
    expect([sent.status, sent.json]).toEqual([200, { ok: true }])
  })

  test('has its slugs on the default domain still, where each is one link in all workspaces', async () => {
    const create = (slug: string, key: string) =>
      server.api(key, '/links', { slug, destinationUrl: 'https://example.com/' })
    expect((await create('SPRING', key)).json.error).toBe('Slug already in use')
    const [stranger = ''] = await createKeys({ dataDir: installation.dataDir }, 1)
    expect((await create('spring', stranger)).status).toBe(409)
    expect((await create('autumn', stranger)).status).toBe(201)
  })

  test('gets domains: a link keeps its clicks when it moves to one', async () => {
    const id = await proveDomain((path, body) => server.api(key, path, body), dns, `go.v${version}.example`)
    expect(await getData('/domains')).toMatchObject([{ id, verified: true, links: 0 }])
    const { domain } = await getData('/links/1')
    const moved = await fetch(`${server.origin}/v1/links/1`, {
      method: 'PATCH',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ domain: `go.v${version}.example` }),
    })
    expect([domain, moved.status]).toEqual([new URL(origin).host, 200])
    expect((await server.click('spring')).status).toBe(404)
    expect((await server.click('spring', { Host: `go.v${version}.example` })).status).toBe(302)
    await until('the sixth click', async () => (await getData('/links/1')).clicks === 6)
  })

  test('has its channel with a sealed secret that opens', async () => {
    const [channel] = await getData('/channels')
    expect(channel).toMatchObject({ id: 1, type: 'webhook', name: 'Hook' })
    const rotated = await server.api(key, '/channels/1/rotate-secret', {})
    expect(rotated.json.data.secret).toStartWith('whsec_')
  })

  test('lets its user sign in with the old password', async () => {
    const response = await fetch(`${server.origin}/api/auth/sign-in/email`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Origin: origin },
      body: JSON.stringify({ email, password }),
    })
    expect(response.status).toBe(200)
    expect(response.headers.getSetCookie().join()).toContain('towpath_session=')
  })
})
