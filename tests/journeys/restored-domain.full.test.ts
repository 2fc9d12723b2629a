// A domain, its proof and its links are in a backup: a restored server answers on the domain, and counts on.

import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommand } from '../faults/move-command.ts'
import { adoptInstallation, createInstallation, type ServerProcess } from '../faults/server-process.ts'
import { closeAfterAll } from '../support/close-after-all.ts'
import { startDnsServer } from '../support/fake-servers/dns-server.ts'
import { proveDomain } from '../support/prove-domain.ts'
import { until } from '../support/until.ts'

setDefaultTimeout(120_000)

const DOMAIN = 'go.brand.example'
const SLUG = 'sale/🎉'
const DESTINATION = 'https://shop.example/'

const closeLater = closeAfterAll()
const dns = await startDnsServer()
afterAll(() => dns.stop())
const options = { environment: { DNS_SERVERS: dns.address } }

const click = async (server: ServerProcess, host: string) => {
  const { status, headers } = await server.click(encodeURI(SLUG), { Host: host })
  return status === 302 ? headers.get('location') : status
}

test('a restored server answers on the domains of its backup', async () => {
  const home = mkdtempSync(join(tmpdir(), 'towpath-domain-'))
  closeLater(() => rmSync(home, { recursive: true, force: true }))
  const installation = await createInstallation(1)
  closeLater(installation.end)
  const key = installation.keys[0] as string
  const server = await installation.start(options)
  const id = await proveDomain((path, body) => server.api(key, path, body), dns, DOMAIN)
  await server.api(key, '/links', { slug: SLUG, domain: DOMAIN, destinationUrl: DESTINATION })
  expect(await click(server, DOMAIN)).toBe(DESTINATION)
  const countClicks = async (server: ServerProcess) =>
    (await server.api(key, `/analytics/clicks?domain=${DOMAIN}`)).json.data.clicks
  await until('the click', async () => (await countClicks(server)) === 1)
  expect((await runCommand(installation.dataDir, ['backup', join(home, 'backup')])).code).toBe(0)
  // Changes after the backup: the domain is deleted, and its link has moved.
  const gone = await fetch(`${server.origin}/v1/domains/${id}?moveTo=default`, {
    method: 'DELETE',
    headers: { Authorization: `Bearer ${key}` },
  })
  expect([gone.status, await click(server, DOMAIN)]).toEqual([200, 404])
  await server.stop()

  const dataDir = join(home, 'restored')
  expect((await runCommand(dataDir, ['restore', join(home, 'backup')])).code).toBe(0)
  const restored = adoptInstallation(dataDir, [key])
  closeLater(restored.end)
  const again = await restored.start(options)
  expect(await click(again, DOMAIN)).toBe(DESTINATION)
  expect(await click(again, '127.0.0.1')).toBe(404)
  await until('both clicks', async () => (await countClicks(again)) === 2)
  // The proof is in the backup, too: the records in DNS are still right.
  const { json } = await again.api(key, `/domains/${id}/verify`, {})
  expect(json.data).toMatchObject({ id, domain: DOMAIN, verified: true, links: 1, problem: null })
})
