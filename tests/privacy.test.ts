// The data about visitors that docs/privacy.md allows: the tests search every file and every table.

import { Database } from 'bun:sqlite'
import { beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { ensureSalts } from '../server/features/visitors/ensure-salts.ts'
import { NAVIGATION_HEADERS } from './support/form-requests.ts'
import type { HttpCall } from './support/server/http-call.ts'
import { until } from './support/until.ts'
import { onBothEngines, type TestServer, type TestWorkspace } from './support/world.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const NOON = Date.parse('2026-05-10T12:00:00Z')
const SHOP = 'https://shop.example'
let now = NOON

const ADDRESSES = ['203.0.113.177', '2001:db8:77:1234:5678:9abc:def0:beef']
const MARK = 'Unmistakable/77.13'
const AGENT = `Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 ${MARK}`

/** Empties SQLite's log, which otherwise holds deleted rows until it is overwritten: see docs/privacy.md. */
function checkpointLog({ engine, dataDir }: TestServer) {
  if (engine !== 'sqlite') return
  const database = new Database(join(dataDir, 'towpath.db'))
  database.run('PRAGMA busy_timeout=5000')
  database.run('PRAGMA wal_checkpoint(TRUNCATE)')
  database.close()
}

function findFilesWith({ dataDir }: TestServer, needle: string | Uint8Array): string[] {
  const read = (path: string) => {
    try {
      return readFileSync(path)
    } catch (error) {
      // The server deletes segments of the spool and batches meanwhile.
      if ((error as { code?: string }).code === 'ENOENT') return Buffer.alloc(0)
      throw error
    }
  }
  return readdirSync(dataDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => read(path).includes(needle))
}

async function findTablesWith({ engine, app: { db } }: TestServer, needle: string): Promise<string[]> {
  const listed =
    engine === 'sqlite'
      ? sql<{ name: string }>`select name from sqlite_master where type = 'table'`
      : sql<{ name: string }>`select tablename as name from pg_tables where schemaname = current_schema()`
  const tables: string[] = []
  for (const { name } of (await listed.execute(db.read)).rows) {
    const found = await sql`select * from ${sql.table(name)}`.execute(db.read)
    const text = found.rows.map((row) => Object.values(row as object).join('\n')).join('\n')
    if (text.includes(needle)) tables.push(name)
  }
  return tables
}

const toIpv6Bytes = (address: string) =>
  Uint8Array.from(
    address
      .split(':')
      .flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255]),
  )

interface Site extends TestWorkspace {
  publicId: string
  formKey: string
  slug: string
  linkId: number
}

async function newSite(server: TestServer): Promise<Site> {
  const workspace = await server.createWorkspace()
  const { public_id } = await server.app.db.read
    .selectFrom('workspaces')
    .select('public_id')
    .where('id', '=', workspace.id)
    .executeTakeFirstOrThrow()
  const { json } = await workspace.api('/forms', { method: 'POST', body: { name: 'Contact' } })
  const link = await workspace.createLink({ trackConversions: true, destinationUrl: `${SHOP}/spring` })
  return { ...workspace, publicId: public_id, formKey: json.data.formKey, slug: link.slug, linkId: link.id }
}

function newVisitor(server: TestServer, site: Site, address: string, more: Record<string, string> = {}) {
  const headers = { 'User-Agent': AGENT, 'X-Forwarded-For': address, ...more }
  let eventId: string | null | undefined
  return {
    click: async () => (await server.click(site.slug, headers)).headers.get('location') as string,
    async viewPage(url: string, from = '') {
      const body = JSON.stringify({ w: site.publicId, u: url, r: from, e: eventId ?? undefined })
      const { status, json } = await server.call('/e', { method: 'POST', body, headers })
      expect(status).toBe(200)
      eventId = json.e
      return json
    },
    async send(fields: Record<string, unknown> = {}) {
      const body = { message: 'what was written', _service_eid: eventId ?? '', ...fields }
      const { status } = await server.call(`/f/${site.formKey}`, { method: 'POST', body, headers })
      expect(status).toBe(200)
    },
  }
}

const readNewestSubmission = async ({ api, formKey }: Site) =>
  (await api(`/forms/${formKey}/submissions`)).json.data[0]
const DAYS = 'start=2026-05-09&end=2026-05-13'
const readFunnel = async ({ api }: Site) => (await api(`/analytics/funnel?${DAYS}`)).json.data

onBothEngines(
  'privacy',
  (server) => {
    test.each(ADDRESSES)(
      'stores neither the address nor the user agent of a click, a visit and a submission from %s',
      async (address) => {
        now = NOON
        const site = await newSite(server())
        const visitor = newVisitor(server(), site, address)
        const landing = await visitor.click()
        await visitor.viewPage(landing, 'https://search.example/q')
        await visitor.viewPage(`${SHOP}/contact`, landing)
        await visitor.send()
        expect(await readNewestSubmission(site)).toMatchObject({
          linkId: site.linkId,
          attribution: 'measured',
        })
        await server().waitUntilShipped()
        expect(await readFunnel(site)).toMatchObject({ clicks: 1, visits: 1, leads: 1 })

        const needles = [address, MARK]
        await until('the spool to be overwritten', () =>
          needles.every((n) => findFilesWith(server(), n).length === 0),
        )
        for (const needle of needles) expect(await findTablesWith(server(), needle)).toEqual([])
        if (address.includes(':')) expect(findFilesWith(server(), toIpv6Bytes(address))).toEqual([])
        // The search works: it finds text that is stored.
        expect(await findTablesWith(server(), 'what was written')).toEqual(['submissions'])
        expect(findFilesWith(server(), 'search.example')).not.toEqual([])
      },
    )

    test('under Global Privacy Control no page view is recorded, and a submission is not linked to a visit', async () => {
      now = NOON
      const site = await newSite(server())
      const linked = newVisitor(server(), site, '203.0.113.5')
      const { e } = await linked.viewPage(`${SHOP}/?utm_source=n`)
      const silent = newVisitor(server(), site, '203.0.113.6', { 'Sec-GPC': '1' })
      expect(await silent.viewPage(await silent.click())).toEqual({ e: null })
      expect(await silent.viewPage(`${SHOP}/contact`)).toEqual({ e: null })
      await silent.send({ _service_eid: e })
      expect(await readNewestSubmission(site)).toMatchObject({
        linkId: null,
        clickId: null,
        eventId: null,
        landingUrl: null,
        sessionLinked: false,
        attribution: 'none',
      })
      await server().waitUntilShipped()
      // The one visit is that of the other visitor.
      expect(await readFunnel(site)).toMatchObject({ visits: 1, leads: 1 })
      const touches = await server()
        .app.db.read.selectFrom('touches')
        .select('kind')
        .where('workspace_id', '=', site.id)
        .where('kind', '<>', 'direct')
        .execute()
      expect(touches).toEqual([])
    })

    test('counts a visit across midnight once, and attributes its submission to the click of the day before', async () => {
      now = Date.parse('2026-05-10T23:54:00Z')
      const site = await newSite(server())
      const visitor = newVisitor(server(), site, '203.0.113.8')
      const landing = await visitor.click()
      await visitor.viewPage(landing)
      now = Date.parse('2026-05-11T00:05:00Z')
      await visitor.viewPage(`${SHOP}/contact`, landing)
      await visitor.send()
      expect(await readNewestSubmission(site)).toMatchObject({
        linkId: site.linkId,
        attribution: 'measured',
        landingUrl: `${SHOP}/spring`,
      })
      await server().waitUntilShipped()
      expect(await readFunnel(site)).toMatchObject({ clicks: 1, visits: 1, leads: 1 })
      now = NOON
    })

    test('destroys every byte of a day’s salt after the day, so that the same person is another visitor', async () => {
      now = NOON
      const { db } = server().app
      const readSalts = async (at: number) => ensureSalts({ db, now: at })
      const site = await newSite(server())
      const send = async () => {
        await newVisitor(server(), site, '203.0.113.9').send({ at: now })
        const { id } = await readNewestSubmission(site)
        return db.read
          .selectFrom('submissions')
          .select('visitor')
          .where('id', '=', id)
          .executeTakeFirstOrThrow()
      }
      const [salt] = await readSalts(now)
      const before = await send()
      now += 5 * MINUTE
      expect(await send()).toEqual(before)
      checkpointLog(server())
      const hex = salt?.salt as string
      expect(await findTablesWith(server(), hex)).toEqual(['visitor_salts'])
      if (server().engine === 'sqlite') expect(findFilesWith(server(), hex)).not.toEqual([])

      now = NOON + 24 * HOUR
      expect((await readSalts(now)).map(({ day }) => day)).toEqual(['2026-05-11'])
      checkpointLog(server())
      expect(await findTablesWith(server(), hex)).toEqual([])
      expect(findFilesWith(server(), hex)).toEqual([])
      expect(await send()).not.toEqual(before)
      now = NOON
    })

    describe('sets no cookie', () => {
      let site: Site
      let locked: string
      let script: string
      beforeAll(async () => {
        site = await newSite(server())
        locked = (await site.createLink({ password: 'open sesame' })).slug
        const link = (await server().call('/t.js')).headers.get('link') as string
        script = new URL((/<([^>]+)>/.exec(link) as RegExpExecArray)[1] as string).pathname
      })
      const form = (body: string): HttpCall => ({
        method: 'POST',
        body,
        headers: { ...NAVIGATION_HEADERS, 'Content-Type': 'application/x-www-form-urlencoded' },
      })
      test.each<[string, () => [path: string, status: number, call?: HttpCall]]>([
        ['a short link', () => [`/${site.slug}`, 302]],
        ['its preview', () => [`/${site.slug}+`, 200]],
        ['a link with a password', () => [`/${locked}`, 200]],
        ['a correct password', () => [`/${locked}`, 303, form('password=open+sesame')]],
        ['a wrong password', () => [`/${locked}`, 403, form('password=x')]],
        ['an unknown link', () => ['/nobody-made-this', 404]],
        ['the snippet', () => ['/t.js', 200]],
        ['the snippet with a hash in its name', () => [script, 200]],
        [
          'a page view',
          () => ['/e', 200, { method: 'POST', body: JSON.stringify({ w: site.publicId, u: SHOP, r: '' }) }],
        ],
        ['a refused page view', () => ['/e', 400, { method: 'POST', body: '{' }]],
        ['settings of forms', () => [`/e/forms?keys=${site.formKey}`, 200]],
        ['a submission by script', () => [`/f/${site.formKey}`, 200, { method: 'POST', body: { a: 'b' } }]],
        ['a submission by the browser', () => [`/f/${site.formKey}`, 303, form('a=b')]],
        ['a preflight', () => [`/f/${site.formKey}`, 204, { method: 'OPTIONS' }]],
        ['an unknown form', () => ['/f/zzzzzzzzzz', 404, form('a=b')]],
        ['the thanks page', () => ['/thanks', 200]],
        ['robots.txt', () => ['/robots.txt', 200]],
        ['readiness', () => ['/readyz', 200]],
      ])('for %s, when the browser sends one', async (_, of) => {
        const [path, status, { headers, ...call } = {}] = of()
        const answer = await server().call(path, { ...call, headers: { Cookie: 'a=b', ...headers } })
        expect([answer.status, answer.headers.getSetCookie()]).toEqual([status, []])
      })
    })
  },
  { now: () => now, environment: { TRUST_PROXY: '127.0.0.1' } },
)
