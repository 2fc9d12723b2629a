// A workspace with every kind of record that an export has: the demonstration, and more.

import { join } from 'node:path'
import { createKey } from '../../../server/features/accounts/access/keys.ts'
import { addVerifiedDomain } from '../server/verified-domain.ts'
import { until } from '../until.ts'
import { BROWSER_USER_AGENT, type TestServer, type TestWorkspace } from '../world.ts'

const ROOT = join(import.meta.dir, '../../..')
export const FULL_DOMAIN = 'go.larkfield.example'

export type KeyedWorkspace = Pick<TestWorkspace, 'id' | 'key' | 'api'>

/** @returns the workspace, whose hits are all counted */
export async function createFullWorkspace(server: TestServer, clicks: number): Promise<KeyedWorkspace> {
  const id = await runDemo(server, clicks)
  const ws = await openWorkspace(server, id)
  await addVerifiedDomain(server, id, FULL_DOMAIN, {
    case_sensitive: 1,
    is_primary: 1,
    root_url: 'https://example.com/',
  })
  await createLinks(ws)
  const channels = await createChannels(ws)
  const forms = (await ws.api('/forms')).json.data
  await post(
    ws,
    `/forms/${forms[0].formKey}`,
    { channelIds: channels, captcha: false, requiredFields: ['email'] },
    'PATCH',
  )
  await createViews(ws, forms[0].formKey)
  await clickAround(server, ws)
  await server.waitUntilShipped()
  await until('all clicks to be counted', async () => {
    const { json } = await ws.api('/analytics/clicks?interval=90d')
    return json.data?.clicks >= clicks
  })
  await until('the missing slugs to be stored', async () => {
    const rows = await server.app.db.read
      .selectFrom('misses')
      .select('slug')
      .where('workspace_id', '=', id)
      .execute()
    return rows.length > 1
  })
  await server.waitUntilShipped()
  return ws
}

export async function openWorkspace(server: TestServer, id: number): Promise<KeyedWorkspace> {
  const { key } = await createKey({ db: server.app.db, now: Date.now }, id, 'test')
  return {
    id,
    key,
    api: (path, { headers, ...rest } = {}) =>
      server.call(`/v1${path}`, { ...rest, headers: { Authorization: `Bearer ${key}`, ...headers } }),
  }
}

async function runDemo({ dataDir, databaseUrl, origin }: TestServer, clicks: number): Promise<number> {
  const child = Bun.spawn([process.execPath, 'server/cli/main.ts', 'demo', '--clicks', String(clicks)], {
    cwd: ROOT,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      DATA_DIR: dataDir,
      TOWPATH_URL: origin,
      ...(databaseUrl ? { DATABASE_URL: databaseUrl } : {}),
    },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  if ((await child.exited) !== 0) throw new Error(err)
  return Number(/is workspace (\d+):/.exec(out)?.[1])
}

async function post({ api }: KeyedWorkspace, path: string, body: object, method = 'POST') {
  const { status, text, json } = await api(path, { method, body })
  if (status >= 300) throw new Error(`${path}: ${status} ${text}`)
  return json.data
}

const SPLIT = [
  { url: 'https://example.com/a', weight: 30, label: 'A, "first"' },
  { url: 'https://example.com/b', weight: 70, label: 'B' },
]

const LINKS = [
  {
    slug: 'full-target',
    geoTargeting: { DE: 'https://example.com/de' },
    deviceTargeting: { ios: 'https://example.com/ios' },
  },
  { slug: 'full-ended', expiresAt: '2026-01-01T00:00:00.000Z', expiredUrl: 'https://example.com/ended' },
  { slug: 'full-limit', clickLimit: 2, leadLimit: 5, trackConversions: true },
  {
    slug: 'full-card',
    previewTitle: 'A card',
    previewDescription: 'With, "quotes"',
    previewImage: 'https://example.com/a.png',
  },
  { slug: 'full-secret', password: 'open sesame', comments: '=1+1\nand a line' },
  {
    slug: 'full/of/Segments',
    title: "'=HYPERLINK()",
    tagNames: ['a, b', 'Back\\slash'],
    externalId: 'crm-1',
  },
  { slug: 'full-Ümlaut', forwardQuery: true, redirectStatus: 308, archived: true, domain: FULL_DOMAIN },
  { slug: 'Case', domain: FULL_DOMAIN },
  { slug: 'case', domain: FULL_DOMAIN },
  {
    slug: 'full-rules',
    rules: [
      { when: { language: ['de'], query: { ref: '*' } }, to: 'https://example.com/de' },
      { when: { os: ['ios'], after: '2026-01-01T00:00:00.000Z' }, to: 'https://example.com/ios' },
    ],
    split: SPLIT,
    splitEndsAt: '2099-01-01T00:00:00.000Z',
    extraPath: 'append',
  },
  { slug: 'full-tested', split: SPLIT },
  { slug: 'full-trash', tagNames: ['a, b'] },
  { slug: 'full-purged' },
].map((link) => ({
  destinationUrl: `https://example.com/${encodeURIComponent(link.slug)}`,
  domain: 'default',
  ...link,
}))

async function createLinks(ws: KeyedWorkspace): Promise<void> {
  const defaultDomain = (await ws.api('/links?limit=1')).json.data[0].domain
  for (const link of LINKS)
    await post(ws, '/links', { ...link, domain: link.domain === 'default' ? defaultDomain : link.domain })
}

async function createChannels(ws: KeyedWorkspace): Promise<number[]> {
  const ids: number[] = []
  for (const channel of [
    { type: 'slack', name: 'Sales', url: 'https://hooks.slack.com/services/T000/B000/geheimnis' },
    { type: 'webhook', name: 'CRM', url: 'https://example.com/hooks?token=geheimnis' },
  ])
    ids.push((await post(ws, '/channels', channel)).id)
  return ids
}

async function createViews(ws: KeyedWorkspace, formKey: string): Promise<void> {
  const links = (await ws.api('/links?limit=2')).json.data
  const tag = (await ws.api('/tags?limit=1')).json.data[0]
  for (const filters of [
    { linkId: `-${links[0].id},${links[1].id}` },
    { tagId: `${tag.id}`, domain: links[0].domain },
    { form: formKey, utmCampaign: '\\-a\\,b' },
  ])
    await post(ws, '/views', {
      name: Object.keys(filters)[0],
      filters,
      start: '2026-03-29',
      timezone: 'Europe/Berlin',
      embed: ['https://example.com'],
      share: { showLeads: true },
    })
}

/** Clicks, refusals, unknown slugs, a link in the trash, and a permanently deleted link. */
async function clickAround(server: TestServer, ws: KeyedWorkspace): Promise<void> {
  const ask = (path: string, headers = {}) =>
    server.call(path, { headers: { 'User-Agent': BROWSER_USER_AGENT, ...headers } })
  const onDomain = { Host: FULL_DOMAIN }
  for (const slug of `full-target full-ended full-limit full-limit full-limit full-secret full-rules full-tested
    full-trash full-purged`.split(/\s+/))
    await ask(`/${slug}`)
  for (const slug of ['Case', 'Case', 'case', 'nobody', 'nobody-else']) await ask(`/${slug}`, onDomain)
  await ask('/full-target?qr=1', { 'User-Agent': 'curl/8' })
  const find = async (slug: string) =>
    (await ws.api(`/links?search=${slug}`)).json.data.find((link: { slug: string }) => link.slug === slug).id
  await server.waitUntilShipped()
  // It keeps its result.
  await post(ws, `/links/${await find('full-tested')}/split/end`, {})
  await ws.api(`/links/${await find('full-trash')}`, { method: 'DELETE' })
  await ws.api(`/links/${await find('full-purged')}?permanent=true`, { method: 'DELETE' })
}
