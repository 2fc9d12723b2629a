import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { type DnsServer, startDnsServer } from '../../../../tests/support/fake-servers/dns-server.ts'
import { startMailServer } from '../../../../tests/support/fake-servers/mail-server.ts'
import { atScale } from '../../../../tests/support/suite.ts'
import { until } from '../../../../tests/support/until.ts'
import { createTeam } from '../../../../tests/support/users/signed-in-user.ts'
import { onBothEngines, type TestServer } from '../../../../tests/support/world.ts'
import { DAY_MS } from '../../../lib/utc-day.ts'
import {
  addDomain,
  addProvenDomain,
  nextName,
  patchDomain,
  proofOf,
  readDomain,
  verify,
} from './domains.fixture.ts'
import { GRACE_MS, judgeOwnership } from './ownership.ts'
import { recheckDomains } from './recheck-domains.ts'
import type { DomainResource } from './schema.ts'

const dns: DnsServer = await startDnsServer()
const mail = await startMailServer()
afterAll(() => Promise.all([dns.stop(), mail.stop()]))

const QUARTER_HOUR_MS = 15 * 60_000
const clock = { at: Date.UTC(2026, 4, 1) }
const options = {
  now: () => clock.at,
  environment: {
    DNS_SERVERS: dns.address,
    TOWPATH_URL: 'https://links.host.example',
    SMTP_URL: mail.url(),
    MAIL_FROM: 'go@links.host.example',
  },
}
const recheck = ({ app }: TestServer) => recheckDomains(app.api)
const remove = (domain: DomainResource) => dns.set('TXT', proofOf(domain).name)
const prove = (domain: DomainResource) => dns.set('TXT', proofOf(domain).name, proofOf(domain).value)
const answers = ({ app }: TestServer, { domain }: DomainResource) => app.domains.get(domain)?.workspaceId

async function passDays(server: TestServer, days: number) {
  for (let day = 0; day < days; day++) {
    clock.at += DAY_MS
    await recheck(server)
  }
}

onBothEngines(
  'the ownership of a domain',
  (server) => {
    beforeEach(() => dns.fail('*', undefined))

    test('is lost after seven days without proof, with a warning at their beginning, and returns with the proof', async () => {
      const team = await createTeam(server())
      const domain = await addProvenDomain(dns, team)
      await patchDomain(team, domain, { primary: true })
      await passDays(server(), 1)
      remove(domain)
      await passDays(server(), 1)
      const toOwner = () => mail.mails.filter(({ to }) => to.includes(team.owner.email))
      await until('the warning', () => toOwner().length === 1)
      expect(toOwner()[0]?.parsed.subject).toBe(`The proof for ${domain.domain} is gone`)
      const stop = new Date(clock.at + 7 * DAY_MS).toISOString().slice(0, 10)
      expect(await readDomain(team, domain)).toMatchObject({
        verified: true,
        primary: true,
        problem: `DNS has no TXT record ${proofOf(domain).name}. A new record can take an hour to be seen. The domain stops on ${stop} unless the record is back.`,
      })
      await passDays(server(), 6)
      expect(answers(server(), domain)).toBe(team.id)
      await passDays(server(), 1)
      expect(answers(server(), domain)).toBeUndefined()
      const lost = await readDomain(team, domain)
      expect(lost).toMatchObject({ verified: false, primary: false })
      expect(lost.problem).toStartWith(`The domain was lost on ${stop}, after 7 days without proof.`)
      await until('the notice of the loss', () => toOwner().length === 2)
      expect(toOwner()[1]?.parsed.subject).toBe(`${domain.domain} has stopped`)
      expect(toOwner()[1]?.parsed.text).toContain(proofOf(domain).value)
      const events = await server().rows('audit_events', { workspace_id: team.id, action: 'domain.lost' })
      expect(events).toMatchObject([{ actor_type: 'system', target_name: domain.domain }])
      prove(domain)
      expect((await verify(team, domain)).json.data).toMatchObject({ verified: true })
      expect(answers(server(), domain)).toBe(team.id)
    })

    test('stays where the proof is back within the seven days', async () => {
      const ws = await server().createWorkspace()
      const domain = await addProvenDomain(dns, ws)
      for (let round = 0; round < 3; round++) {
        remove(domain)
        await passDays(server(), 6)
        prove(domain)
        await passDays(server(), 1)
        expect(await readDomain(ws, domain)).toMatchObject({ verified: true })
      }
    })

    test('stays while no DNS server answers, however long, and ends with a domain that alone does not answer', async () => {
      const ws = await server().createWorkspace()
      const domain = await addProvenDomain(dns, ws)
      dns.fail('*', 'SERVFAIL')
      await passDays(server(), 20)
      expect(answers(server(), domain)).toBe(ws.id)
      expect((await readDomain(ws, domain)).problem).toContain('SERVFAIL')
      dns.fail('*', undefined)
      dns.fail(proofOf(domain).name, 'SERVFAIL')
      await passDays(server(), 7)
      expect(answers(server(), domain)).toBe(ws.id)
      await passDays(server(), 1)
      expect(answers(server(), domain)).toBeUndefined()
    })

    test('is not lost by two failures with a long time between them: nobody knows what was in between', async () => {
      const ws = await server().createWorkspace()
      const domain = await addProvenDomain(dns, ws)
      remove(domain)
      await passDays(server(), 1)
      clock.at += 30 * DAY_MS
      await recheck(server())
      expect(answers(server(), domain)).toBe(ws.id)
      await passDays(server(), 6)
      expect(answers(server(), domain)).toBe(ws.id)
    })

    test('goes to another workspace only after the seven days', async () => {
      const [ws, other] = [await server().createWorkspace(), await server().createWorkspace()]
      const name = nextName()
      const theirs = await addDomain(other, name)
      const domain = await addProvenDomain(dns, ws, name)
      prove(theirs)
      for (let day = 0; day < 7; day++) {
        await passDays(server(), 1)
        expect((await verify(other, theirs)).status).toBe(409)
        expect(answers(server(), domain)).toBe(ws.id)
      }
      await passDays(server(), 1)
      expect((await verify(other, theirs)).json.data).toMatchObject({ verified: true })
      expect(answers(server(), domain)).toBe(other.id)
      prove(domain)
      expect((await verify(ws, domain)).status).toBe(409)
    })

    test('is found without anybody who asks, in the first week', async () => {
      const ws = await server().createWorkspace()
      const [domain, late] = [await addDomain(ws), await addDomain(ws)]
      await recheck(server())
      prove(domain)
      await recheck(server())
      expect(answers(server(), domain)).toBeUndefined()
      clock.at += QUARTER_HOUR_MS
      await recheck(server())
      expect(answers(server(), domain)).toBe(ws.id)
      clock.at += 8 * DAY_MS
      prove(late)
      await recheck(server())
      expect(answers(server(), late)).toBeUndefined()
      expect((await verify(ws, late)).json.data).toMatchObject({ verified: true })
    })

    test('is looked at once a day', async () => {
      const ws = await server().createWorkspace()
      const { domain } = await addProvenDomain(dns, ws)
      const count = () => dns.questions.filter((question) => question === `TXT _towpath.${domain}`).length
      const before = count()
      await recheck(server())
      clock.at += DAY_MS / 2
      await recheck(server())
      expect(count()).toBe(before)
      clock.at += DAY_MS / 2
      await recheck(server())
      await recheck(server())
      expect(count()).toBe(before + 1)
    })
  },
  options,
)

describe('any course of looks', () => {
  const check = fc.record({
    afterMs: fc.integer({ min: 0, max: 3 * DAY_MS }),
    proof: fc.constantFrom(true, false, null),
    isEvidence: fc.boolean(),
  })

  test('loses a domain only after seven days in which each look spoke against it', () => {
    const run = fc.property(fc.array(check, { maxLength: 40 }), (checks) => {
      let row = {
        verified_at: 1 as number | null,
        checked_at: 1 as number | null,
        failing_since: null as number | null,
        problem: null as string | null,
        proof_ok: 1 as number | null,
        route_ok: null as number | null,
        is_primary: 0,
      }
      let now = 1
      let lastGood = 1
      for (const { afterMs, proof, isEvidence } of checks) {
        now += afterMs
        const counts = proof === false || (proof === null && isEvidence)
        const judged = judgeOwnership(
          row,
          { proof, isEvidence: counts, problem: 'Gone.', route: null, routeProblem: null },
          now,
        )
        row = { ...row, ...judged.columns }
        if (proof === true) lastGood = now
        if (judged.event === 'lost') expect(now - lastGood).toBeGreaterThanOrEqual(GRACE_MS)
        if (judged.event === 'lost') expect(counts).toBe(true)
        expect(row.verified_at === null ? row.failing_since : null).toBeNull()
        expect(row.proof_ok === 1 || row.problem !== null || row.verified_at !== null).toBe(true)
      }
    })
    fc.assert(run, { numRuns: atScale({ quick: 100, full: 500, soak: 500 }) })
  })
})
