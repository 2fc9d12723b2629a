import { afterAll, expect, test } from 'bun:test'
import {
  type DnsFault,
  type DnsServer,
  startDnsServer,
} from '../../../../tests/support/fake-servers/dns-server.ts'
import { findFreePort } from '../../../../tests/support/processes/free-port.ts'
import { atScale, full } from '../../../../tests/support/suite.ts'
import { onSqlite } from '../../../../tests/support/world.ts'
import { checkDomain } from './check-domain.ts'
import { createDnsClients } from './dns-client.ts'
import { addDomain, addProvenDomain, nextName, proofOf, readDomain, verify } from './domains.fixture.ts'
import { createServerAddresses } from './server-addresses.ts'

const dns: DnsServer = await startDnsServer()
afterAll(() => dns.stop())

const TOWPATH_URL = 'https://links.host.example'
const LATE = 'DNS has not answered in time'

const SILENT: DnsFault[] = ['silence', 'wrong id', 'wrong name']
/** Faults of DNS, and the domain's sentence about each. The silent ones are asked for at the same moment, for seconds. */
const FAULTS: [fault: DnsFault, reason: string][] = [
  ['SERVFAIL', 'the DNS servers of the domain do not work (SERVFAIL)'],
  ['REFUSED', 'DNS refuses to answer (REFUSED)'],
  ...atScale({ quick: [], full: SILENT, soak: SILENT }).map((fault): [DnsFault, string] => [fault, LATE]),
]

onSqlite(
  'a domain whose DNS',
  (server) => {
    test('hangs, lies or fails stays pending with the reason', async () => {
      const ws = await server().createWorkspace()
      const pending = await Promise.all(
        FAULTS.map(async ([fault, reason]) => {
          const domain = await addDomain(ws)
          const { name, value } = proofOf(domain)
          dns.set('TXT', name, value)
          dns.fail(name, fault)
          return { domain, reason, name }
        }),
      )
      const answers = await Promise.all(
        pending.map(async ({ domain, reason, name }) => {
          const { status, json } = await verify(ws, domain)
          expect([status, json.data.verified, json.data.problem]).toEqual([
            200,
            false,
            `The TXT record ${name} cannot be read: ${reason}.`,
          ])
          expect(proofOf(json.data).ok).toBeNull()
          return json.data
        }),
      )
      expect(await Promise.all(answers.map((domain) => readDomain(ws, domain)))).toEqual(answers)
      for (const { domain, name } of pending) {
        dns.fail(name, undefined)
        expect((await verify(ws, domain)).json.data.verified).toBe(true)
      }
    }, 60_000)

    test('answers no DNS at all stays pending', async () => {
      const ws = await server().createWorkspace()
      const domain = await addDomain(ws)
      const name = proofOf(domain).name
      dns.fail(name, 'broken')
      const { json } = await verify(ws, domain)
      expect(json.data.verified).toBe(false)
      expect(json.data.problem).toStartWith(`The TXT record ${name} cannot be read: `)
    }, 60_000)

    test('answers 64 KB over TCP is verified where the proof is among them, and not else', async () => {
      const ws = await server().createWorkspace()
      const domain = await addDomain(ws)
      const { name, value } = proofOf(domain)
      dns.fail(name, 'large')
      expect((await verify(ws, domain)).json.data).toMatchObject({
        verified: false,
        problem: `The TXT record ${name} has another value.`,
      })
      dns.set('TXT', name, value)
      expect((await verify(ws, domain)).json.data.verified).toBe(true)
    }, 60_000)

    test('leads in a circle of CNAMEs has no address and no proof', async () => {
      const ws = await server().createWorkspace()
      const domain = await addDomain(ws)
      dns.set('CNAME', domain.domain, `b.${domain.domain}`)
      dns.set('CNAME', `b.${domain.domain}`, domain.domain)
      dns.set('CNAME', proofOf(domain).name, `c.${domain.domain}`)
      dns.set('CNAME', `c.${domain.domain}`, proofOf(domain).name)
      const { json } = await verify(ws, domain)
      expect(json.data).toMatchObject({
        verified: false,
        problem: `DNS has no TXT record ${proofOf(domain).name}. A new record can take an hour to be seen.`,
      })
      expect(json.data.dns.map(({ ok }: { ok: boolean }) => ok)).toEqual([false, false])
    })

    test('has the value in quotes, beside others, or behind a CNAME is verified', async () => {
      const ws = await server().createWorkspace()
      const [quoted, beside, behind] = [await addDomain(ws), await addDomain(ws), await addDomain(ws)]
      dns.set('TXT', proofOf(quoted).name, `"${proofOf(quoted).value}"`)
      dns.set('TXT', proofOf(beside).name, 'v=spf1 -all', ` ${proofOf(beside).value} `)
      dns.set('CNAME', proofOf(behind).name, 'proofs.acme.example')
      dns.set('TXT', 'proofs.acme.example', proofOf(behind).value)
      for (const domain of [quoted, beside, behind])
        expect((await verify(ws, domain)).json.data.verified).toBe(true)
    })

    test('has the value of another workspace, or a part of it, is not verified', async () => {
      const [ws, other] = [await server().createWorkspace(), await server().createWorkspace()]
      const name = nextName()
      const [domain, theirs] = [await addDomain(ws, name), await addDomain(other, name)]
      const { value } = proofOf(domain)
      const parts = [value.slice(0, -1), value.toUpperCase(), `${value}x`, 'towpath-']
      for (const wrong of [proofOf(theirs).value, ...parts]) {
        dns.set('TXT', proofOf(domain).name, wrong)
        expect((await verify(ws, domain)).json.data).toMatchObject({
          verified: false,
          problem: `The TXT record ${proofOf(domain).name} has another value.`,
        })
      }
    })

    test('leads elsewhere, or here by a CNAME or an address, says so', async () => {
      const ws = await server().createWorkspace()
      dns.set('A', 'links.host.example', '192.0.2.1')
      dns.set('AAAA', 'links.host.example', '2001:db8::1')
      const elsewhere = nextName()
      dns.set('A', elsewhere, '198.51.100.7')
      const lost = await addProvenDomain(dns, ws, elsewhere)
      expect(lost.dns[1]).toEqual({ type: 'CNAME', name: elsewhere, value: 'links.host.example', ok: false })
      expect(lost).toMatchObject({
        verified: true,
        problem: `DNS leads visitors of ${elsewhere} to 198.51.100.7, and not to this server. That is right only where a proxy of yours is in between.`,
      })
      for (const [type, address] of [
        ['A', '10.1.2.3'],
        ['A', '192.168.1.7'],
        ['A', '100.64.0.1'],
        ['A', '127.0.0.1'],
        ['AAAA', 'fd00::7'],
      ] as const) {
        const inside = nextName()
        dns.set(type, inside, address)
        expect(await addProvenDomain(dns, ws, inside)).toMatchObject({
          verified: true,
          problem: `DNS leads visitors of ${inside} to ${address}: a private address, which only your own network can reach. Set the server’s public address.`,
        })
      }
      const alias = nextName()
      dns.set('CNAME', alias, 'links.host.example')
      expect(await addProvenDomain(dns, ws, alias)).toMatchObject({ problem: null })
      const top = `top${ws.id}.example`
      dns.set('AAAA', top, '2001:db8::1')
      expect(await addProvenDomain(dns, ws, top)).toMatchObject({
        problem: null,
        dns: [
          { type: 'TXT', ok: true },
          { type: 'A', name: top, value: '192.0.2.1', ok: true },
          { type: 'AAAA', name: top, value: '2001:db8::1', ok: true },
        ],
      })
      const silent = nextName()
      dns.fail(silent, 'SERVFAIL')
      const unknown = await addProvenDomain(dns, ws, silent)
      expect([unknown.verified, unknown.problem, unknown.dns[1]?.ok]).toEqual([true, null, null])
    })

    test('is asked about the given name and those above it only', async () => {
      const ws = await server().createWorkspace()
      const before = dns.questions.length
      const { domain } = await addProvenDomain(dns, ws)
      const asked = new Set(
        dns.questions.slice(before).filter((question) => !question.endsWith('links.host.example')),
      )
      expect([...asked].sort()).toEqual([
        `A ${domain}`,
        `AAAA ${domain}`,
        `CNAME ${domain}`,
        'NS example',
        `TXT _towpath.${domain}`,
      ])
    })
  },
  { environment: { DNS_SERVERS: dns.address, TOWPATH_URL } },
)

test('DNS servers that cannot be reached are no evidence against a domain, and hold nobody up', async () => {
  const open = createDnsClients([`127.0.0.1:${findFreePort()}`], 100)
  const serverAddresses = createServerAddresses({ domain: 'links.host.example' }, open)
  const needs = { openDnsClient: open, serverAddresses }
  const check = await checkDomain(needs, { domain: 'go.acme.example', token: 'x' })
  expect(check).toMatchObject({ proof: null, isEvidence: false, route: null })
}, 60_000)

full(
  'the next DNS server is asked where the first one does not answer',
  async () => {
    const silent = await startDnsServer()
    silent.fail('*', 'silence')
    dns.set('TXT', '_towpath.go.second.example', 'token')
    const open = createDnsClients([silent.address, dns.address])
    const serverAddresses = createServerAddresses({ domain: 'localhost:3000' }, open)
    const check = await checkDomain(
      { openDnsClient: open, serverAddresses },
      { domain: 'go.second.example', token: 'token' },
    )
    expect(check).toMatchObject({ proof: true, isEvidence: true })
    await silent.stop()
  },
  60_000,
)

test.each(SILENT)('a DNS server that answers with %s has not answered', async (fault) => {
  dns.fail(`${fault.replace(' ', '-')}.silent.example`, fault)
  const client = createDnsClients([dns.address], 100)()
  expect(await client.listTexts(`${fault.replace(' ', '-')}.silent.example`)).toEqual({ silence: LATE })
  client.close()
})

test('silent DNS servers are given up together, however many there are', async () => {
  const silent = await Promise.all(Array.from({ length: 5 }, () => startDnsServer()))
  for (const server of silent) server.fail('*', 'silence')
  const client = createDnsClients(
    silent.map(({ address }) => address),
    200,
  )()
  expect(await client.listTexts('go.silent.example')).toEqual({ silence: LATE })
  client.close()
  // Without the deadline, each of them is asked twice, a second and a half each.
  expect(silent.flatMap(({ questions }) => questions).length).toBeLessThan(10)
  await Promise.all(silent.map((server) => server.stop()))
}, 60_000)
