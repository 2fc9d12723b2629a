// What somebody who moves here sees: the files of each tool go in by HTTP, and then the short links lead where they led, with
// their titles, tags, times and clicks; a repeat changes nothing, and an undo leaves the workspace as it was.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { ROOT } from '../support/architecture/read-checkout.ts'
import { type ClickHouseServer, startClickHouse } from '../support/clickhouse/clickhouse-server.ts'
import {
  type ImportAnswer,
  type ImportTarget,
  runImport,
  undoImport,
} from '../support/imports/import-client.ts'
import { readAllRows } from '../support/read-all-rows.ts'
import { atScale } from '../support/scale.ts'
import { startServer, type TestServer, type TestWorkspace } from '../support/server/test-server.ts'
import { addVerifiedDomain, callHost } from '../support/server/verified-domain.ts'

setDefaultTimeout(300_000)

const FIXTURES = join(ROOT, 'server/features/transfer/sources/fixtures')
const ANDROID =
  'Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Mobile Safari/537.36'
const DESKTOP = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
/** Imports themselves, and what changes without a request. */
const IGNORED_TABLES =
  /^(imports|import_rows|audit_log|audit_events|leases|nodes|rate_limits|rate_windows|hit_batches|kysely_migration(_lock)?|sqlite_\w+)$/

interface Case {
  /** Of the tool. */
  source: string
  file: string
  clicks?: string
  /** Domains that the workspace has before. */
  domains: { name: string; caseSensitive?: boolean }[]
  fields?: Record<string, unknown>
  /** What the import says in the end. */
  figures: Partial<ImportAnswer>
  /** Fields of links, by domain and slug. */
  links: Record<string, Record<string, unknown>>
  /** Where short links lead, as `status location`; by address and browser. */
  leads: [address: string, userAgent: string, answer: string][]
  /** Of people, over all links. */
  analytics: { clicks: number; countries: Record<string, number>; referrers: Record<string, number> }
}

const CASES: Record<string, Case> = {}

const ENGINES = ['sqlite', ...atScale({ test: [], soak: ['postgres'] })] as ('sqlite' | 'postgres')[]

describe.each(ENGINES)('files of other tools on %s', (engine) => {
  let server: TestServer
  let clickHouse: ClickHouseServer | undefined
  beforeAll(async () => {
    if (engine === 'postgres') clickHouse = await startClickHouse()
    server = await startServer(engine, {
      environment: {
        TOWPATH_URL: 'https://go.example',
        ...(clickHouse && { CLICKHOUSE_URL: await clickHouse.createDatabase() }),
      },
    })
  })
  afterAll(async () => {
    await server?.close()
    await clickHouse?.end()
  })

  const readFixture = async (path: string) =>
    new File([await Bun.file(join(FIXTURES, path)).bytes()], path.split('/').at(-1) ?? '')
  const readAnalytics = async (own: TestWorkspace, query = '') =>
    (await own.api(`/analytics/clicks?interval=all&${query}`)).json.data
  const toCounts = (rows: Record<string, never>[], name: string) =>
    Object.fromEntries(rows.map((row) => [row[name], row.clicks]))

  async function expectLinks(own: TestWorkspace, { links }: Case) {
    for (const [address, fields] of Object.entries(links)) {
      const [domain = '', ...slug] = address.split('/')
      const { json } = await own.api(`/links?domain=${domain}&archived=all&limit=100`)
      const found = json.data.find((link: { slug: string }) => link.slug === slug.join('/'))
      const tags = found?.tags.map(({ name }: { name: string }) => name).sort()
      expect([address, { ...found, tags }]).toEqual([address, expect.objectContaining(fields)])
    }
  }

  test.each(Object.keys(CASES))('%s', async (name) => {
    const wanted = CASES[name] as Case
    const own = await server.createWorkspace()
    const target: ImportTarget = { origin: server.origin, key: own.key }
    for (const { name: domain, caseSensitive } of wanted.domains)
      await addVerifiedDomain(server, own.id, domain, { case_sensitive: caseSensitive ? 1 : 0 })
    await own.createLink({ slug: `before-${own.id}`, tagNames: ['Was here'] })
    const before = await readAllRows(server, IGNORED_TABLES)
    const upload = {
      fields: { source: wanted.source, ...wanted.fields },
      file: await readFixture(wanted.file),
      ...(wanted.clicks && { clicks: await readFixture(wanted.clicks) }),
    }

    // A dry run says the same, and changes nothing.
    const dry = await runImport(target, { ...upload, fields: { ...upload.fields, dryRun: true } })
    expect({ ...dry, errors: dry.errors.length && dry.errors }).toMatchObject({
      status: 'done',
      ...wanted.figures,
    })
    expect(await readAllRows(server, IGNORED_TABLES)).toEqual(before)

    const done = await runImport(target, upload)
    const { rows, created, renamed, skipped, failed, clicks, errors } = done
    expect(done).toMatchObject({ status: 'done', problem: null, ...wanted.figures })
    expect({ rows, created, renamed, skipped, failed, clicks, errors }).toEqual({
      rows: dry.rows,
      created: dry.created,
      renamed: dry.renamed,
      skipped: dry.skipped,
      failed: dry.failed,
      clicks: dry.clicks,
      errors: dry.errors,
    })
    await server.waitUntilShipped()
    await expectLinks(own, wanted)
    for (const [address, userAgent, answer] of wanted.leads) {
      const [host = '', ...slug] = address.split('/')
      const { status, headers } = await callHost(server, host, `/${slug.join('/')}`, {
        headers: { 'User-Agent': userAgent, 'Sec-Purpose': 'prefetch' },
      })
      expect([address, `${status} ${headers.get('location') ?? ''}`.trim()]).toEqual([address, answer])
    }

    const { clicks: people, countries, referrers } = wanted.analytics
    expect(await readAnalytics(own)).toMatchObject({ clicks: people, visitors: 0 })
    expect(toCounts(await readAnalytics(own, 'groupBy=country'), 'country')).toEqual(countries)
    expect(toCounts(await readAnalytics(own, 'groupBy=referrer'), 'referrer')).toEqual(referrers)

    // The same file again makes nothing and counts nothing.
    const rowsAfter = await readAllRows(server, IGNORED_TABLES)
    const again = await runImport(target, upload)
    expect(again).toMatchObject({ status: 'done', created: 0, clicks: 0, failed })
    expect(await readAllRows(server, IGNORED_TABLES)).toEqual(rowsAfter)
    expect(await readAnalytics(own)).toMatchObject({ clicks: people, visitors: 0 })

    const undone = await undoImport(target, done.id)
    expect(undone.kept).toEqual([])
    expect(await readAllRows(server, IGNORED_TABLES)).toEqual(before)
    expect(await readAnalytics(own, 'class=all')).toMatchObject({ visitors: 0 })
    expect(await readAnalytics(own)).toMatchObject({ clicks: 0 })
  })
})
