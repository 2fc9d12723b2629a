import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type DnsServer, startDnsServer } from '../../../../tests/support/fake-servers/dns-server.ts'
import { onBothEngines } from '../../../../tests/support/server/test-server.ts'
import {
  addDomain,
  addProvenDomain,
  nextName,
  patchDomain,
  proofOf,
  readDomain,
  verify,
} from './domains.fixture.ts'
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
      const events = await server()
        .app.db.read.selectFrom('audit_events')
        .select('action')
        .where('workspace_id', '=', ws.id)
        .where('target_type', '=', 'domain')
        .where('target_id', '=', String(domain.id))
        .orderBy('id')
        .execute()
      expect(events.map(({ action }) => action)).toEqual(['domain.created', 'domain.verified'])
    })

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
      const late = await (await server().createWorkspace()).api('/domains', {
        method: 'POST',
        body: { domain: name },
      })
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
