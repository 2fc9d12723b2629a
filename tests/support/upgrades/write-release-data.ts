// Writes the fixture of the running version for the tests of later upgrades: bun tests/support/upgrades/write-release-data.ts
// [directory]. A server writes it over HTTP and is killed, so that the last clicks are in the spool only.

import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import manifest from '../../../package.json' with { type: 'json' }
import { adoptInstallation, type ServerProcess } from '../../faults/server-process.ts'
import { until } from '../until.ts'
import { DASHBOARD } from '../users/sign-up.ts'
import { FIXTURES, RELEASE_PERSON, type ReleaseData } from './release-data.ts'

const { origin, email, password } = RELEASE_PERSON

/** @returns the key of the workspace that the first account gets */
async function createAccount(server: ServerProcess): Promise<string> {
  const setup = /token=([\w-]+)/.exec(server.readOutput())?.[1]
  const body = { name: 'Ann', email, password, setup }
  const headers = { 'Content-Type': 'application/json', Origin: origin, ...DASHBOARD }
  const post = async (path: string, body: unknown, more = {}) => {
    const init = { method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify(body) }
    const response = await fetch(server.origin + path, init)
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return response
  }
  const signedUp = await post('/api/auth/sign-up/email', body)
  const Cookie = signedUp.headers
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0])
    .join('; ')
  const { workspaceId } = (await signedUp.json()) as { workspaceId: number }
  const created = await post('/v1/keys', { name: 'fixture' }, { Cookie, 'X-Workspace': `${workspaceId}` })
  return ((await created.json()) as { data: { key: string } }).data.key
}

/** The records that old-data-directory.test.ts looks for. */
async function createContent(server: ServerProcess, key: string): Promise<{ formKey: string }> {
  const post = async (path: string, body: unknown) => {
    const { status, json, text } = await server.api(key, path, body)
    if (status >= 300) throw new Error(`${path}: ${status} ${text}`)
    return json.data
  }
  const destinationUrl = 'https://example.com/'
  await post('/links', {
    slug: 'spring',
    title: 'Spring sale',
    trackConversions: true,
    tagNames: ['newsletter'],
    destinationUrl: 'https://example.com/sale',
  })
  await post('/links', { slug: 'closed', destinationUrl, archived: true })
  await post('/links', {
    slug: 'locked',
    destinationUrl: 'https://example.com/secret',
    password: 'open sesame',
  })
  await post('/links', {
    slug: 'rules',
    externalId: 'crm-7',
    comments: 'kept',
    destinationUrl,
    geoTargeting: { DE: 'https://example.com/de' },
    deviceTargeting: { ios: 'https://example.com/ios' },
  })
  const hook = await post('/channels', { type: 'webhook', name: 'Hook', url: 'https://hooks.example.com/' })
  const { formKey } = await post('/forms', { name: 'Contact', channelIds: [hook.id] })
  await click(server, 3)
  await until(
    'the clicks are counted',
    async () => (await server.api(key, '/links/1')).json.data.clicks === 3,
  )
  await server.submit(formKey, 'email=bob%40example.com&message=Hello', {})
  await until('the submission has its link', async () => {
    const [submission] = (await server.api(key, `/forms/${formKey}/submissions`)).json.data
    return submission?.linkId === 1
  })
  return { formKey }
}

async function click(server: ServerProcess, times: number): Promise<void> {
  for (let n = 0; n < times; n++) await server.click('spring')
}

const target = process.argv[2] ?? FIXTURES
const dataDir = mkdtempSync(join(tmpdir(), 'towpath-release-'))
const installation = adoptInstallation(dataDir, [])
try {
  const server = await installation.start({ environment: { TOWPATH_URL: origin } })
  const key = await createAccount(server)
  const content = await createContent(server, key)
  await click(server, 2)
  await server.kill()
  const { version } = manifest
  const data: ReleaseData = { version, key, ...content }
  writeFileSync(join(target, `data-${version}.json`), `${JSON.stringify(data)}\n`)
  const archive = join(target, `data-${version}.tar.gz`)
  const packed = Bun.spawnSync(['tar', '-czf', archive, '-C', dataDir, '.'], { stderr: 'inherit' })
  if (!packed.success) throw new Error(`${archive} could not be written`)
  process.stdout.write(`${archive}\n`)
} finally {
  await installation.end()
}
