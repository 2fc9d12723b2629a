// The check of workspaces' domains: on real sockets with real certificates. Only the look-up of names is the test's.

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCertificate } from '../../../../tests/support/processes/certificate.ts'
import { type Network, parseNetwork } from '../../../lib/ip-network.ts'
import { createWorkspace } from '../../accounts/workspaces/create-workspace.ts'
import { createPatient, type DoctorPatient, summarize } from '../doctor.fixture.ts'
import { checkDomains, judgeWay } from './domains.ts'

const NOW = Date.UTC(2026, 5, 11, 12)
const NAME = 'links.acme.example'
const OWN = '127.0.0.2'
const AWAY = '127.0.0.3'

let patient: DoctorPatient
let workspaceId: number
let dir: string
beforeAll(async () => {
  patient = await createPatient()
  const { id } = await createWorkspace({ db: patient.db, now: () => NOW }, { name: 'Acme', plan: 'pro' })
  workspaceId = id
  dir = mkdtempSync(join(tmpdir(), 'towpath-doctor-domains-'))
})
afterAll(async () => {
  await patient.end()
  rmSync(dir, { recursive: true, force: true })
})

/** Stores a domain. @param fields those that differ from a verified one */
const store = (
  domain: string,
  fields: { failing_since?: number; problem?: string; verified_at?: null } = {},
) =>
  patient.db.write((db) =>
    db
      .insertInto('domains')
      .values({
        workspace_id: workspaceId,
        domain,
        token: 'towpath-verify=secret-token',
        verified_at: 1,
        is_primary: 0,
        case_sensitive: 0,
        created_at: 1,
        updated_at: 1,
        ...fields,
      })
      .execute(),
  )

/** @param names where names lead. The default domain leads to OWN. */
const needs = (
  names: Record<string, string[]>,
  settings: { origin?: string; webhookAllow?: Network[] } = {},
) =>
  patient.needs({ findAddresses: async (name) => ({ 'go.example': [OWN], ...names })[name] ?? [] }, settings)

describe('the domains of workspaces', () => {
  afterEach(() => patient.db.write((db) => db.deleteFrom('domains').execute()))

  test('are well where there is none, and where none is verified', async () => {
    await store(NAME, { verified_at: null })
    expect(summarize(await checkDomains(needs({})))).toBe('ok: No workspace has a verified domain.')
  })

  test('are named when they fail: since when, why, and what to do', async () => {
    await store(NAME, { failing_since: Date.UTC(2030, 0, 2), problem: 'The TXT record is gone.' })
    await store('well.example')
    const found = await checkDomains(
      needs({ [NAME]: [OWN], 'well.example': [OWN] }, { origin: 'http://go.example' }),
    )
    expect(found).toEqual([
      {
        status: 'warning',
        summary: `${NAME} fails its check since 2030-01-02T00:00:00.000Z. The TXT record is gone.`,
        fix: expect.stringContaining('the page Domains'),
      },
      { status: 'ok', summary: 'No problems with 1 domain.' },
    ])
    expect(JSON.stringify(found)).not.toMatch(/secret-token|Acme/)
  })

  test('are a problem without an address, and a warning when some visitors go elsewhere', async () => {
    await store(NAME)
    const check = async (addresses: string[]) =>
      summarize(await checkDomains(needs({ [NAME]: addresses }, { origin: 'http://go.example' })))
    expect(await check([])).toBe(`problem: No address of ${NAME} can be found.`)
    expect(await check([OWN, '2001:db8::1'])).toBe(
      `warning: ${NAME} leads to 2001:db8::1 too, no address of go.example.`,
    )
  })

  test('are left alone where this machine cannot even find the default domain', async () => {
    await store(NAME)
    expect(summarize(await checkDomains(patient.needs()))).toBe(
      'skipped: DNS has no address of go.example for this machine.',
    )
  })

  test('are fifty at most: those that fail first', async () => {
    for (let n = 0; n < 55; n++) await store(`n${n}.acme.example`)
    await store(NAME, { failing_since: 1 })
    let lookups = 0
    const findAddresses = async () => {
      lookups++
      return [OWN]
    }
    const found = await checkDomains(patient.needs({ findAddresses }, { origin: 'http://go.example' }))
    expect(lookups).toBe(1 + 50)
    expect(summarize(found).split('\n')).toEqual([
      expect.stringContaining(`warning: ${NAME} fails`),
      'ok: No problems with 49 domains.',
      'skipped: Only 50 domains were checked: those that fail, and then the newest.',
    ])
  })
})

describe('the way to a domain', () => {
  const listening: Server[] = []
  afterEach(() => {
    for (const server of listening.splice(0)) server.close()
  })

  /** A server without TLS that does `greet` with each connection. @returns its port, and how many have connected */
  async function listen(address: string, greet: (write: (bytes: Uint8Array) => void) => void) {
    const seen = { connections: 0, port: 0 }
    const server = createServer((socket) => {
      seen.connections++
      socket.on('error', () => {})
      socket.once('data', () => greet((bytes) => socket.end(bytes)))
    })
    listening.push(server)
    await new Promise<void>((resolve) => server.listen(0, address, resolve))
    seen.port = (server.address() as AddressInfo).port
    return seen
  }

  const judge = async (port: number, addresses: string[], webhookAllow: Network[] = []) =>
    summarize(
      (await judgeWay(`https://${NAME}:${port}`, [OWN], needs({ [NAME]: addresses }, { webhookAllow })))
        .complaints,
    )

  test('has a certificate that is judged', async () => {
    const { cert, key } = createCertificate(dir, NAME)
    const tls = { cert: Bun.file(cert), key: Bun.file(key) }
    const asked: string[] = []
    const fetch = ({ url }: Request) => {
      asked.push(new URL(url).pathname)
      return new Response('')
    }
    const server = Bun.serve({ port: 0, hostname: OWN, tls, fetch })
    expect(await judge(server.port as number, [OWN])).toStartWith(
      `problem: The certificate of ${NAME} is not trusted`,
    )
    // It counts for no link, and for no slug that is missing.
    expect(asked).toEqual(['/robots.txt'])
    await server.stop(true)
  })

  test('is a problem without a certificate', async () => {
    // Caddy's answer for a name that it gets no certificate for: a fatal alert, "internal error" (RFC 8446, 6.2).
    const alert = Uint8Array.of(0x15, 3, 3, 0, 2, 2, 80)
    const { port } = await listen(OWN, (write) => write(alert))
    expect(await judge(port, [OWN])).toStartWith(`problem: ${NAME} has no certificate (ERR_SSL_`)
  })

  test('is not gone into a private network, unless the operator allows it', async () => {
    const away = await listen(AWAY, (write) => write(Buffer.from('no TLS')))
    expect(await judge(away.port, [AWAY])).toBe(
      `warning: ${NAME} leads to ${AWAY}, no address of go.example. It is not public.`,
    )
    // Its own address is no excuse for another one.
    await judge(away.port, [OWN, AWAY])
    expect(away.connections).toBe(0)
    await judge(away.port, [AWAY], [parseNetwork(AWAY) as Network])
    expect(away.connections).toBe(1)
  })

  test('is a warning where nothing answers elsewhere', async () => {
    const allow = [parseNetwork(AWAY) as Network]
    expect(await judge(9, [AWAY], allow)).toMatch(/^warning: .* Nothing answers there \(ECONNREFUSED\)\.$/)
  })
})
