import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type DnsServer, startDnsServer } from '../../../../tests/support/fake-servers/dns-server.ts'
import { addVerifiedDomain } from '../../../../tests/support/server/verified-domain.ts'
import { until } from '../../../../tests/support/until.ts'
import { addToWorkspace, createSignedInUser } from '../../../../tests/support/users/signed-in-user.ts'
import { onBothEngines, onSqlite } from '../../../../tests/support/world.ts'
import { deleteWorkspace } from '../../accounts/workspaces/delete-workspace.ts'
import { restoreWorkspace, suspendWorkspace } from '../../accounts/workspaces/suspend-workspace.ts'
import { listCountedDomains } from './counted-domains.ts'
import {
  addDomain,
  addProvenDomain,
  nextName,
  patchDomain,
  proofOf,
  readDomain,
  verify,
} from './domains.fixture.ts'
import { recheckDomains } from './recheck-domains.ts'
import type { DomainResource } from './schema.ts'

const ISO = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

const dns: DnsServer = await startDnsServer()
afterAll(() => dns.stop())

const ORIGIN = 'https://links.host.example'
const options = { environment: { DNS_SERVERS: dns.address, TOWPATH_URL: ORIGIN } }

beforeAll(() => dns.set('A', 'links.host.example', '192.0.2.1'))

onBothEngines(
  'domains',
  (server) => {
    test('are added with the records to set, and answer nothing before they are verified', async () => {
      const ws = await server().createWorkspace()
      const name = nextName()
      const domain = await addDomain(ws, name)
      expect(domain).toEqual({
        id: expect.any(Number),
        domain: name,
        verified: false,
        dns: [
          {
            type: 'TXT',
            name: `_towpath.${name}`,
            value: expect.stringMatching(/^towpath-\w{32}$/),
            ok: null,
          },
          { type: 'CNAME', name, value: 'links.host.example', ok: null },
        ],
        problem: null,
        primary: false,
        caseSensitive: false,
        rootUrl: null,
        notFoundUrl: null,
        expiredUrl: null,
        links: 0,
        assetLinks: null,
        appleAppSiteAssociation: null,
        createdAt: ISO,
        updatedAt: ISO,
      })
      expect((await ws.api('/domains')).json).toEqual({ data: [domain], nextCursor: null, total: 1 })
      expect(await readDomain(ws, domain)).toEqual(domain)
      expect(server().app.domains.get(name)).toBeUndefined()
    })

    test('are verified by the TXT record, and answer at once', async () => {
      const ws = await server().createWorkspace()
      const domain = await addDomain(ws)
      const missing = await verify(ws, domain)
      expect([missing.status, missing.json.data]).toEqual([
        200,
        {
          ...domain,
          dns: domain.dns.map((record) => ({ ...record, ok: false })),
          problem: `DNS has no TXT record _towpath.${domain.domain}. A new record can take an hour to be seen.`,
        },
      ])
      dns.set('TXT', proofOf(domain).name, 'v=spf1 -all', proofOf(domain).value)
      dns.set('CNAME', domain.domain, 'links.host.example')
      const { json } = await verify(ws, domain)
      expect(json.data).toEqual({
        ...domain,
        verified: true,
        dns: domain.dns.map((record) => ({ ...record, ok: true })),
      })
      expect(server().app.domains.get(domain.domain)).toMatchObject({ workspaceId: ws.id })
      const events = await server().rows('audit_events', {
        workspace_id: ws.id,
        target_type: 'domain',
        target_id: String(domain.id),
      })
      expect(events.map(({ action }) => action)).toEqual(['domain.created', 'domain.verified'])
    })

    test('have settings that are judged as destinations are, and change nothing where one is wrong', async () => {
      const ws = await server().createWorkspace()
      const domain = await addProvenDomain(dns, ws)
      const settings = {
        rootUrl: 'https://example.com/',
        notFoundUrl: 'https://example.com/{slug}/?q={slug}&from=go#{slug}',
        expiredUrl: 'HTTPS://Example.com/over',
        assetLinks: [{ relation: ['x'], target: { namespace: 'web', site: 'https://example.com' } }],
        appleAppSiteAssociation: { applinks: { details: [{ appIDs: ['A.b'] }] } },
      }
      const stored = { ...settings, expiredUrl: 'https://example.com/over' }
      expect((await patchDomain(ws, domain, settings)).json.data).toMatchObject(stored)
      expect(server().app.domains.get(domain.domain)).toMatchObject({
        notFoundUrl: settings.notFoundUrl,
        assetLinks: JSON.stringify(settings.assetLinks),
      })
      const files = { appleAppSiteAssociation: { x: 'y'.repeat(64 * 1024 - 8) } }
      expect((await patchDomain(ws, domain, files)).status).toBe(200)
      const before = await readDomain(ws, domain)
      const refused: [Record<string, unknown>, string][] = [
        [{ rootUrl: 'javascript:alert(1)' }, 'must be an http or https URL'],
        [{ rootUrl: 'https://user:pw@example.com/' }, 'must not contain a user name or password'],
        [{ rootUrl: `${ORIGIN}/x` }, 'must not point to a short domain of this server'],
        [{ rootUrl: `https://${domain.domain}/x` }, 'must not point to a short domain of this server'],
        [
          { rootUrl: 'https://example.com/{slug}' },
          'must not have {slug}: who asks for the domain itself asks for no slug',
        ],
        [{ notFoundUrl: 'https://{slug}.example.com/' }, 'may have {slug} after the host only'],
        [{ expiredUrl: 'https://example.com{slug}' }, 'may have {slug} after the host only'],
        [{ expiredUrl: '{slug}' }, 'must be an http or https URL'],
        [{ notFoundUrl: `https://example.com/${'x'.repeat(9000)}` }, 'must be at most 8192 characters'],
        [{ assetLinks: {} }, 'must be a list of objects'],
        [{ appleAppSiteAssociation: [] }, 'must be an object'],
        [{ appleAppSiteAssociation: { x: 'y'.repeat(64 * 1024) } }, 'must be at most 64 KiB of JSON'],
        [{ assetLinks: [{ x: 'ü'.repeat(33_000) }] }, 'must be at most 64 KiB of JSON'],
        [{ caseSensitive: true }, 'is not a known field'],
        [{ domain: 'other.example.com' }, 'is not a known field'],
      ]
      for (const [body, message] of refused) {
        const { status, json } = await patchDomain(ws, domain, {
          notFoundUrl: 'https://example.org/',
          ...body,
        })
        expect([body, status, json.errors]).toEqual([
          body,
          422,
          { [Object.keys(body)[0] as string]: message },
        ])
      }
      expect(await readDomain(ws, domain)).toEqual(before)
      const deep = JSON.parse(`${'{"a":'.repeat(40)}1${'}'.repeat(40)}`)
      expect((await patchDomain(ws, domain, { appleAppSiteAssociation: deep })).status).toBe(400)
    })

    test('go with their workspace, and stay while it is suspended', async () => {
      const ws = await server().createWorkspace()
      const needs = { db: server().app.db, now: server().now }
      const domain = await addProvenDomain(dns, ws)
      await suspendWorkspace(needs, ws.id, null)
      await recheckDomains(server().app.api)
      await restoreWorkspace(needs, ws.id)
      expect(await readDomain(ws, domain)).toMatchObject({ verified: true })
      await deleteWorkspace(needs, ws.id)
      await until('the directory to forget the domain', () => !server().app.domains.get(domain.domain))
      const other = await server().createWorkspace()
      expect(await addProvenDomain(dns, other, domain.domain)).toMatchObject({ verified: true })
    })
  },
  options,
)

onBothEngines.quick(
  'domains at the same moment',
  (server) => {
    test('have one name in all workspaces that prove it: the first one has it', async () => {
      const workspaces = await Promise.all([1, 2, 3, 4].map(() => server().createWorkspace()))
      const name = nextName()
      const claims = await Promise.all(workspaces.map((ws) => addDomain(ws, name)))
      dns.set('TXT', `_towpath.${name}`, ...claims.map((claim) => proofOf(claim).value))
      const answers = await Promise.all(workspaces.map((ws, i) => verify(ws, claims[i] as DomainResource)))
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409])
      const refused = answers.find(({ status }) => status === 409)
      expect(refused?.json.error).toStartWith(`${name} is verified in another workspace.`)
      const states = await Promise.all(workspaces.map((ws, i) => readDomain(ws, claims[i] as DomainResource)))
      expect(states.filter(({ verified }) => verified)).toHaveLength(1)
      const late = await (await server().createWorkspace()).post('/domains', { domain: name })
      expect(late.status).toBe(409)
    })

    test('of one workspace are primary one at a time, and only when verified', async () => {
      const ws = await server().createWorkspace()
      const pending = await addDomain(ws)
      const refused = await patchDomain(ws, pending, { primary: true })
      expect([refused.status, refused.json.errors]).toEqual([
        422,
        { primary: 'needs a verified domain: verify this one first' },
      ])
      const verified = await Promise.all([1, 2, 3].map(() => addProvenDomain(dns, ws)))
      const answers = await Promise.all(verified.map((domain) => patchDomain(ws, domain, { primary: true })))
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
      const { data } = (await ws.api('/domains')).json
      expect(data.filter(({ primary }: DomainResource) => primary)).toHaveLength(1)
    })
  },
  options,
)

onBothEngines('domains of a plan', (server) => {
  test.each([
    ['free', 0, "The Free plan has no domains of one's own. The Pro plan has one."],
    ['pro', 1, 'The Pro plan has at most 1 domain. Remove one first, or change the plan.'],
    ['business', 5, 'The Business plan has at most 5 domains. Remove one first, or change the plan.'],
    ['scale', 20, 'The Scale plan has at most 20 domains. Remove one first, or change the plan.'],
  ] as const)(
    'of the %s plan are %p at most, also for requests at the same moment',
    async (plan, most, sentence) => {
      const ws = await server().createWorkspace(plan)
      const owner = await createSignedInUser(server(), 'Ann')
      await addToWorkspace(server(), ws.id, owner, 'owner')
      const post = (domain: string) => owner.in(ws.id).post('/domains', { domain })
      const answers = await Promise.all(Array.from({ length: most + 3 }, () => post(nextName())))
      const refused = answers.filter(({ status }) => status !== 201)
      expect(answers.length - refused.length).toBe(most)
      for (const { status, json } of refused) expect([status, json.error]).toEqual([403, sentence])
    },
  )
})

onSqlite(
  'the domains whose misses a workspace may see',
  (server) => {
    test('are those that it has verified, and the default domain in the first workspace', async () => {
      const ws = await server().createWorkspace()
      const [name, pending] = [nextName(), nextName()]
      const own = { domain: name, holder: ws.id, since: 0, caseSensitive: true }
      await addVerifiedDomain(server(), ws.id, name, { case_sensitive: 1 })
      await addVerifiedDomain(server(), ws.id, pending, { verified_at: null })
      const list = () => listCountedDomains(server().app.db, ws.id)
      const shared = { domain: '', holder: 0, since: expect.any(Number), caseSensitive: false }
      expect(await list()).toEqual([shared, own])
      const other = await server().createWorkspace()
      await addVerifiedDomain(server(), other.id, nextName())
      expect(await list()).toEqual([shared, own])
      expect(await listCountedDomains(server().app.db, other.id)).toHaveLength(1)
    })
  },
  {},
)
