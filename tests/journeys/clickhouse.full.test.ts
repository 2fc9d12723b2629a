// The journey of clicks and leads through a whole server whose hits are in ClickHouse, beside another node.

import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createKey } from '../../server/features/accounts/access/keys.ts'
import { deleteWorkspace } from '../../server/features/accounts/workspaces/delete-workspace.ts'
import { createRawHit } from '../../server/features/hits/spool/raw-hit.fixture.ts'
import {
  CLICKHOUSE_START_MS,
  type ClickHouseServer,
  startClickHouse,
} from '../support/clickhouse/clickhouse-server.ts'
import { until } from '../support/until.ts'
import { BROWSER_USER_AGENT, startServer, type TestServer, type TestWorkspace } from '../support/world.ts'

setDefaultTimeout(120_000)

/** All nodes of an installation have the same. */
const SECRET = 'a secret that two nodes share, and long enough'
const DAY = 24 * 60 * 60 * 1000
let clickHouse: ClickHouseServer
let url: string
let server: TestServer
beforeAll(async () => {
  clickHouse = await startClickHouse()
  url = await clickHouse.createDatabase()
  server = await startServer('postgres', {
    environment: { CLICKHOUSE_URL: url, TOWPATH_SECRET: SECRET, HIT_RETENTION_DAYS: '90' },
  })
}, CLICKHOUSE_START_MS)
afterAll(async () => {
  await server?.close()
  await clickHouse?.end()
})

const count = async ({ api }: TestWorkspace, path = 'clicks') => {
  const { status, json, headers } = await api(`/analytics/${path}`)
  return { status, json, headers, countedUntil: Date.parse(headers.get('x-counted-until') ?? '') }
}
const untilClicks = (workspace: TestWorkspace, clicks: number) =>
  until(`${clicks} clicks`, async () => (await count(workspace)).json.data?.clicks === clicks)

async function createForm({ api }: TestWorkspace): Promise<string> {
  return (await api('/forms', { method: 'POST', body: { name: 'Contact' } })).json.data.formKey
}
const send = (formKey: string) =>
  server.call(`/f/${formKey}`, {
    method: 'POST',
    body: { email: 'jo@example.com' },
    headers: { 'User-Agent': BROWSER_USER_AGENT },
  })
const listAttributions = async ({ api }: TestWorkspace, formKey: string) =>
  (await api(`/forms/${formKey}/submissions`)).json.data.map(
    ({ attribution, linkId }: { attribution: string; linkId: number | null }) => [attribution, linkId],
  )

const OTHER_NODE = 'feedfeedfeedfeed'
afterEach(() =>
  server.app.db.write((connection) =>
    connection.deleteFrom('nodes').where('node', '=', OTHER_NODE).execute(),
  ),
)

/** Another node that lives for the next minutes, and has shipped its hits until this moment. */
async function placeOtherNode(shippedUntil: number) {
  await server.app.db.write(async (connection) => {
    const own = await connection
      .selectFrom('nodes')
      .selectAll()
      .where('node', '<>', OTHER_NODE)
      .executeTakeFirstOrThrow()
    const other = { ...own, node: OTHER_NODE, process: 'another', shipped_until: shippedUntil, left_at: null }
    const row = { ...other, seen_at: own.seen_at + 10 * 60_000 }
    await connection.deleteFrom('nodes').where('node', '=', OTHER_NODE).execute()
    await connection.insertInto('nodes').values(row).execute()
  })
}

describe('with hits in ClickHouse', () => {
  test('a click is counted, exported and brings a lead', async () => {
    const workspace = await server.createWorkspace()
    const link = await workspace.createLink()
    const formKey = await createForm(workspace)
    const before = Date.now()
    expect((await server.click(link.slug)).status).toBe(302)
    expect((await send(formKey)).status).toBe(200)
    await untilClicks(workspace, 1)
    await until('a header after the click', async () => (await count(workspace)).countedUntil > before)
    const [top] = (await count(workspace, 'clicks?groupBy=link')).json.data
    expect(top).toMatchObject({ link: link.id, clicks: 1, visitors: 1 })
    const file = await workspace.api('/analytics/clicks/export?format=ndjson')
    expect(JSON.parse(file.text)).toMatchObject({ linkId: link.id, slug: link.slug, class: 'human' })
    await until('the lead has its link', async () => {
      const [first] = await listAttributions(workspace, formKey)
      return first[0] === 'inferred' && first[1] === link.id
    })
    const [funnel] = (await count(workspace, 'funnel?groupBy=link')).json.data
    expect(funnel).toMatchObject({ link: link.id, clicks: 1, leads: 1 })
    await until('the counter', async () => (await workspace.api(`/links/${link.id}`)).json.data.clicks === 1)
  })

  test('what another node has not shipped holds back X-Counted-Until, and a submission stays pending', async () => {
    const workspace = await server.createWorkspace()
    const link = await workspace.createLink()
    const formKey = await createForm(workspace)
    const past = Date.now() - 5000
    await placeOtherNode(past)
    await until('the other node is known', async () => (await count(workspace)).countedUntil === past)
    await server.click(link.slug)
    await send(formKey)
    await untilClicks(workspace, 1)
    for (const path of ['clicks', 'funnel']) expect((await count(workspace, path)).countedUntil).toBe(past)
    const file = await workspace.api('/analytics/clicks/export')
    expect(Date.parse(file.headers.get('x-counted-until') ?? '')).toBe(past)
    expect(await listAttributions(workspace, formKey)).toEqual([['pending', null]])
    const submitted = Date.now()
    await placeOtherNode(submitted + 1000)
    await until('it is decided', async () => (await listAttributions(workspace, formKey))[0][0] !== 'pending')
    expect(await listAttributions(workspace, formKey)).toEqual([['inferred', link.id]])
    expect((await count(workspace)).countedUntil).toBeGreaterThan(past)
  })

  test('the demo hands its clicks to the server, which loads them', async () => {
    const child = Bun.spawn([process.execPath, 'server/cli/main.ts', 'demo', '--clicks', '300'], {
      cwd: join(import.meta.dir, '../..'),
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        DATA_DIR: server.dataDir,
        DATABASE_URL: server.databaseUrl,
        CLICKHOUSE_URL: url,
        TOWPATH_SECRET: SECRET,
      },
      stdout: 'pipe',
    })
    const output = await new Response(child.stdout).text()
    expect([await child.exited, output]).toEqual([0, expect.stringContaining('300 clicks')])
    const id = Number(/is workspace (\d+):/.exec(output)?.[1])
    const { key } = await createKey({ db: server.app.db, now: Date.now }, id, 'test')
    await until('the clicks of the demo', async () => {
      const headers = { Authorization: `Bearer ${key}` }
      const { json } = await server.call('/v1/analytics/clicks?interval=90d', { headers })
      return json.data?.clicks === 300
    })
  })

  test('a deleted workspace is erased, and hits past their retention are', async () => {
    const [kept, deleted] = [await server.createWorkspace(), await server.createWorkspace()]
    for (const workspace of [kept, deleted]) await server.click((await workspace.createLink()).slug)
    const old = { workspaceId: kept.id, linkId: 1, at: Date.now() - 31 * DAY }
    server.app.spool.append(createRawHit(old))
    for (const workspace of [kept, deleted]) await untilClicks(workspace, 1)
    await server.app.hitWorker.pruneHits(Date.now() - 30 * DAY)
    const database = new URL(url).pathname.slice(1)
    const read = async (id: number) =>
      Number(await clickHouse.query(`SELECT count() FROM hits WHERE workspace_id = ${id}`, database))
    expect([await read(kept.id), await read(deleted.id)]).toEqual([1, 1])
    await deleteWorkspace({ db: server.app.db, now: Date.now }, deleted.id)
    await until('the erasure', async () => (await read(deleted.id)) === 0)
    expect(await read(kept.id)).toBe(1)
  })

  test('an outage stops analytics only, and every click counts once afterwards', async () => {
    const workspace = await server.createWorkspace()
    const link = await workspace.createLink()
    const formKey = await createForm(workspace)
    await server.click(link.slug)
    await untilClicks(workspace, 1)
    await clickHouse.kill()
    try {
      for (let n = 0; n < 20; n++) expect((await server.click(link.slug)).status).toBe(302)
      expect((await send(formKey)).status).toBe(200)
      for (const path of ['clicks', 'funnel', 'clicks/export']) {
        const { status, json, headers } = await count(workspace, path)
        const error = 'Analytics are temporarily unavailable. Clicks are still recorded.'
        expect([path, status, json]).toEqual([path, 503, { error }])
        expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
      }
      expect((await listAttributions(workspace, formKey))[0]).toEqual(['pending', null])
    } finally {
      await clickHouse.start()
    }
    await untilClicks(workspace, 21)
    await until('the lead', async () => (await listAttributions(workspace, formKey))[0][0] === 'inferred')
    await until('the counter', async () => (await workspace.api(`/links/${link.id}`)).json.data.clicks === 21)
  })

  test('a start during an outage warns; the first start of an installation, and a wrong password, are refused', async () => {
    const environment = (address: string) => ({ environment: { CLICKHOUSE_URL: address } })
    const wrong = url.replace(/:[^:@/]+@/, ':wrong@')
    await expect(startServer('postgres', environment(wrong))).rejects.toThrow('refuses the user')
    await clickHouse.kill()
    try {
      await expect(startServer('postgres', environment(url))).rejects.toThrow('ClickHouse does not answer')
      const again = await startServer('postgres', {
        environment: { CLICKHOUSE_URL: url, DATABASE_URL: server.databaseUrl ?? '', TOWPATH_SECRET: SECRET },
      })
      expect(again.app.hitStoreWarning).toContain('redirects and forms work, analytics answer 503')
      const workspace = await again.createWorkspace()
      const link = await workspace.createLink()
      expect((await again.click(link.slug)).status).toBe(302)
      await clickHouse.start()
      await untilClicks(workspace, 1)
      await again.close()
    } finally {
      await clickHouse.start()
    }
  })

  test('a start with clicks in DuckDB that were never moved is refused', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'towpath-history-'))
    try {
      writeFileSync(join(dataDir, 'hits.duckdb'), '')
      const environment = { CLICKHOUSE_URL: url, DATA_DIR: dataDir }
      await expect(startServer('postgres', { environment })).rejects.toThrow('Run "npx towpath move" first')
    } finally {
      rmSync(dataDir, { recursive: true, force: true })
    }
  })
})
