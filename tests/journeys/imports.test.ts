// Moving here from each tool, by HTTP: the short links lead where they led, with their titles, tags, times and clicks;
// a repeat changes nothing, and an undo leaves the workspace as it was.

import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout } from 'bun:test'
import { join } from 'node:path'
import { ROOT } from '../support/architecture/read-checkout.ts'
import { type ClickHouseServer, startClickHouse } from '../support/clickhouse/clickhouse-server.ts'
import {
  type ImportAnswer,
  type ImportTarget,
  undoImport,
  uploadAndRun,
} from '../support/imports/upload-client.ts'
import { readAllRows } from '../support/readers/read-all-rows.ts'
import { addVerifiedDomain, callHost, changeDomain } from '../support/server/verified-domain.ts'
import { atScale, quick } from '../support/suite.ts'
import { until } from '../support/until.ts'
import { BROWSER_USER_AGENT, startServer, type TestServer, type TestWorkspace } from '../support/world.ts'

setDefaultTimeout(300_000)

const FIXTURES = join(ROOT, 'server/features/transfer/sources/fixtures')
const ANDROID =
  'Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Mobile Safari/537.36'
const DESKTOP = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
/** Imports themselves, and what changes without a request. */
const IGNORED_TABLES =
  /^(imports|event_marks|import_rows|import_totals|import_erasures|import_erasure_marks|audit_events|click_marks|misses|visitor_salts|internal_visitors|leases|nodes|rate_limits|rate_windows|hit_batches|kysely_migration(_lock)?|sqlite_\w+)$/

interface Case {
  /** The tool's name. */
  source: string
  file: string
  clicks?: string
  /** Domains that the workspace has before. */
  domains: { name: string; caseSensitive?: boolean; primary?: boolean }[]
  fields?: Record<string, unknown>
  /** The final report of the import. */
  figures: Partial<ImportAnswer>
  /** Fields of links, by domain and slug. */
  links: Record<string, Record<string, unknown>>
  /** Where short links lead, as `status location`; by address and browser. */
  leads: [address: string, userAgent: string, answer: string][]
  /** Clicks of people, over all links. */
  analytics: { clicks: number; countries: Record<string, number>; referrers: Record<string, number> }
}

const CASES: Record<string, Case> = {
  'Dub, CSV with click history': {
    source: 'dub',
    file: 'dub/links.csv',
    clicks: 'dub/events.csv',
    domains: [{ name: 'go.acme.test' }],
    // The root of a domain is no link, and one slug stands twice in the file.
    figures: { rows: 5, created: 3, skipped: 1, failed: 1, clicks: 3 },
    links: {
      'go.acme.test/spring': {
        destinationUrl: 'https://shop.acme.test/sale?utm_source=mail&utm_campaign=spring,2025',
        tags: ['Newsletter', 'Spring'],
        createdAt: '2025-02-01T09:30:00.000Z',
        clicks: 1204,
        clicksBefore: 1202,
      },
      'go.acme.test/Docs': { archived: true, clicks: 8 },
      'go.example/Straße/lesen': { destinationUrl: 'https://acme.test/b%C3%BCcher', clicks: 0 },
    },
    leads: [
      [
        'go.acme.test/spring',
        DESKTOP,
        '302 https://shop.acme.test/sale?utm_source=mail&utm_campaign=spring,2025',
      ],
      [
        'go.acme.test/SPRING',
        DESKTOP,
        '302 https://shop.acme.test/sale?utm_source=mail&utm_campaign=spring,2025',
      ],
      ['go.acme.test/Docs', DESKTOP, '404'],
      ['go.example/Stra%C3%9Fe/lesen', DESKTOP, '302 https://acme.test/b%C3%BCcher'],
    ],
    analytics: {
      clicks: 3,
      countries: { DE: 1, US: 1, Unknown: 1 },
      referrers: { 'mail.google.com': 1, '(direct)': 2 },
    },
  },
  'Dub, JSON of the API': {
    source: 'dub',
    file: 'dub/links.json',
    domains: [{ name: 'go.acme.test' }],
    figures: { rows: 4, created: 3, failed: 1, clicks: 0 },
    links: {
      'go.acme.test/app': {
        destinationUrl: 'https://acme.test/app?utm_source=qr',
        comments: 'On every box since May.',
        tags: ['Größe, XL', 'Print'],
        createdAt: '2025-05-01T12:00:00.000Z',
        expiresAt: '2026-12-31T23:00:00.000Z',
        expiredUrl: 'https://acme.test/over',
        passwordProtected: true,
        deviceTargeting: {
          ios: 'https://apps.apple.com/app/id1',
          android: 'https://play.google.com/store/apps/details?id=test.acme',
        },
        geoTargeting: { DE: 'https://acme.test/de', FR: 'https://acme.test/fr' },
        previewTitle: 'Get the app',
        clicks: 3021,
      },
      'go.acme.test/plain': { archived: true, previewTitle: null },
      'go.acme.test/off': { archived: true, clicks: 5 },
    },
    leads: [
      ['go.acme.test/app', DESKTOP, '200'],
      ['go.acme.test/off', DESKTOP, '404'],
    ],
    analytics: { clicks: 0, countries: {}, referrers: {} },
  },
  'Shlink, CSV of the web client': {
    source: 'shlink',
    file: 'shlink/short_urls.csv',
    clicks: 'shlink/visits.csv',
    domains: [{ name: 's.acme.test', caseSensitive: true }],
    figures: { rows: 3, created: 3, skipped: 0, failed: 0, clicks: 3 },
    links: {
      's.acme.test/12C18': {
        destinationUrl: 'https://store.acme.test/?a=1,2',
        title: 'Welcome, friend',
        tags: ['games', 'tech'],
        createdAt: '2023-05-01T08:00:00.000Z',
        // A robot of the history counts for nobody, and is no click of before either.
        clicks: 327,
        clicksBefore: 326,
      },
      's.acme.test/12c18': { destinationUrl: 'https://store.acme.test/lower', title: null, clicks: 0 },
      's.acme.test/café/menü': { destinationUrl: 'https://acme.test/menu', tags: ['food'], clicks: 1029 },
    },
    leads: [
      ['s.acme.test/12C18', DESKTOP, '302 https://store.acme.test/?a=1,2'],
      ['s.acme.test/12c18', DESKTOP, '302 https://store.acme.test/lower'],
      ['s.acme.test/12c18x', DESKTOP, '404'],
      ['s.acme.test/caf%C3%A9/men%C3%BC', DESKTOP, '302 https://acme.test/menu'],
    ],
    // Shlink says of `curl` that it is no robot.
    analytics: { clicks: 2, countries: { ES: 1, Unknown: 1 }, referrers: { 't.co': 1, '(direct)': 1 } },
  },
  'Shlink, API with rules': {
    source: 'shlink',
    file: 'shlink/short-urls-with-rules.ndjson',
    domains: [{ name: 's.acme.test', caseSensitive: true }],
    figures: { rows: 2, created: 2, failed: 0, clicks: 0 },
    links: {
      // A rule for the language of one country is left out, and the import says so.
      's.acme.test/rules': {
        forwardQuery: true,
        rules: [
          { when: { os: ['android'] }, to: 'https://acme.test/android' },
          { when: { os: ['ios', 'android'] }, to: 'https://acme.test/mobile' },
          { when: { country: ['DE'] }, to: 'https://acme.test/de' },
          { when: { device: ['desktop'], query: { ref: 'ad' } }, to: 'https://acme.test/ad' },
          { when: { os: ['macos'] }, to: 'https://acme.test/mac' },
          { when: { device: ['desktop'] }, to: 'https://acme.test/desktop' },
        ],
        clicks: 9,
      },
      's.acme.test/order': {
        rules: [
          { when: { country: ['FR'] }, to: 'https://acme.test/fr' },
          { when: { os: ['ios'] }, to: 'https://acme.test/ios' },
        ],
      },
    },
    leads: [
      ['s.acme.test/rules', ANDROID, '302 https://acme.test/android'],
      ['s.acme.test/rules', DESKTOP, '302 https://acme.test/desktop'],
      ['s.acme.test/rules', BROWSER_USER_AGENT, '302 https://acme.test/mobile'],
      ['s.acme.test/order', DESKTOP, '302 https://acme.test/'],
    ],
    analytics: { clicks: 0, countries: {}, referrers: {} },
  },
  'YOURLS, one dump as both files': {
    source: 'yourls',
    file: 'yourls/mysqldump.sql',
    clicks: 'yourls/mysqldump.sql',
    domains: [{ name: 'y.acme.test', caseSensitive: true, primary: true }],
    // An apostrophe is no letter of a slug here.
    figures: { rows: 4, created: 3, failed: 1, clicks: 3 },
    links: {
      'y.acme.test/AuIq': {
        destinationUrl: 'https://acme.test/a?b=1&c=%E0%A4%B5',
        title: 'वेब होस्टिंग | Acme',
        createdAt: '2024-12-01T20:36:18.000Z',
      },
      'y.acme.test/auiq': { destinationUrl: 'https://acme.test/lower', title: null },
      'y.acme.test/zero': { clicks: 2, clicksBefore: 2 },
    },
    leads: [
      ['y.acme.test/AuIq', DESKTOP, '302 https://acme.test/a?b=1&c=%E0%A4%B5'],
      ['y.acme.test/auiq', DESKTOP, '302 https://acme.test/lower'],
    ],
    // `-` in place of a user agent is a robot's, as in live clicks.
    analytics: { clicks: 1, countries: { IN: 1 }, referrers: { 'acme.test': 1 } },
  },
  'Kutt, JSON of the API': {
    source: 'kutt',
    file: 'kutt/links.json',
    domains: [{ name: 'kutt.acme.test', caseSensitive: true }, { name: 'go.acme.test' }],
    figures: { rows: 3, created: 3, failed: 0, clicks: 0 },
    links: {
      'kutt.acme.test/Ab3dE': {
        destinationUrl: 'https://acme.test/poster?x=1',
        comments: 'The poster at the door',
        createdAt: '2024-01-10T10:00:00.000Z',
        expiresAt: '2027-01-01T00:00:00.000Z',
        archived: false,
        clicks: 120,
        clicksBefore: 120,
      },
      // Protected and banned links do not open.
      'go.acme.test/secret': { archived: true },
      'kutt.acme.test/bad': { archived: true, clicks: 4 },
    },
    leads: [
      ['kutt.acme.test/Ab3dE', DESKTOP, '302 https://acme.test/poster?x=1'],
      ['kutt.acme.test/ab3de', DESKTOP, '404'],
      ['go.acme.test/secret', DESKTOP, '404'],
    ],
    analytics: { clicks: 0, countries: {}, referrers: {} },
  },
  'Bitly, JSON of the API': {
    source: 'bitly',
    file: 'bitly/bitlinks.ndjson',
    domains: [{ name: 'go.acme.example', caseSensitive: true }],
    fields: { domainMap: { 'bit.ly': 'go.acme.example', 'acme.example.link': 'go.acme.example' } },
    // The first has two names of its own on one host: each is a link.
    figures: { rows: 3, created: 5, failed: 0, clicks: 0 },
    links: {
      'go.acme.example/launch': {
        destinationUrl: 'https://acme.example/launch?utm_source=mail',
        title: 'Launch',
        tags: ['2023', 'spring'],
        createdAt: '2023-08-25T08:38:00.000Z',
      },
      'go.acme.example/Launch-2': { destinationUrl: 'https://acme.example/launch?utm_source=mail' },
      'go.acme.example/2TR00bO': { archived: true },
    },
    leads: [
      ['go.acme.example/launch', DESKTOP, '302 https://acme.example/launch?utm_source=mail'],
      ['go.acme.example/Launch-2', DESKTOP, '302 https://acme.example/launch?utm_source=mail'],
      ['go.acme.example/2TR00bO', DESKTOP, '404'],
    ],
    analytics: { clicks: 0, countries: {}, referrers: {} },
  },
  'Rebrandly, JSON of the API': {
    source: 'rebrandly',
    file: 'rebrandly/links.json',
    domains: [{ name: 'go.acme.example', caseSensitive: true }],
    fields: { domainMap: { 'rebrand.ly': 'go.acme.example' } },
    figures: { rows: 3, created: 2, failed: 1, clicks: 0 },
    links: {
      'go.acme.example/burn10M': {
        title: 'The Supercar | WIRED',
        tags: ['cars', 'Été'],
        createdAt: '2016-07-13T10:54:12.000Z',
        forwardQuery: true,
        clicks: 42,
        clicksBefore: 42,
      },
    },
    leads: [['go.acme.example/burn10M', DESKTOP, '302 https://www.example.com/2016/07/spider?a=1&b=2']],
    analytics: { clicks: 0, countries: {}, referrers: {} },
  },
  'Sink, JSON of its export': {
    source: 'sink',
    file: 'sink/export.json',
    domains: [{ name: 'sink.acme.example', primary: true }],
    figures: { rows: 3, created: 3, failed: 0, clicks: 0 },
    links: {
      'sink.acme.example/spring': {
        destinationUrl: 'https://example.com/spring',
        comments: 'for the fair',
        tags: ['2026', 'fair'],
        createdAt: '2025-11-03T16:05:06.000Z',
        expiresAt: '2027-01-01T00:00:00.000Z',
        previewTitle: 'Spring',
        geoTargeting: { DE: 'https://example.de/', AT: 'https://example.at/' },
        deviceTargeting: { ios: 'https://apps.example/ios', android: 'https://apps.example/android' },
      },
      // Its password is masked: what was protected does not open.
      'sink.acme.example/secret': { archived: true },
      'sink.acme.example/🚀': { passwordProtected: true },
    },
    leads: [
      ['sink.acme.example/spring', ANDROID, '302 https://apps.example/android'],
      ['sink.acme.example/secret', DESKTOP, '404'],
    ],
    analytics: { clicks: 0, countries: {}, referrers: {} },
  },
  'a table with names that nobody knows': {
    source: 'csv',
    file: 'csv/mapped.csv',
    domains: [],
    fields: {
      mapping: { destinationUrl: 'Wohin', slug: 'Kürzel', createdAt: 'Angelegt' },
      timeZone: 'Europe/Berlin',
    },
    figures: { rows: 2, created: 2, failed: 0, clicks: 0 },
    links: { 'go.example/eins': { createdAt: '2025-04-03T14:05:00.000Z' } },
    leads: [['go.example/zwei', DESKTOP, '302 https://example.com/2']],
    analytics: { clicks: 0, countries: {}, referrers: {} },
  },
}

const ENGINES = ['sqlite', ...atScale({ full: [], soak: ['postgres'] })] as ('sqlite' | 'postgres')[]

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

  /** Another workspace has the same domains in the next test. */
  const domainIds: number[] = []
  afterEach(async () => {
    for (const id of domainIds.splice(0)) await changeDomain(server, id, { verified_at: null })
  })

  /** Without links that are deleted for good: their rows stay, as names for the clicks that they had. */
  async function readRows() {
    const rows = await readAllRows(server, IGNORED_TABLES)
    return { ...rows, links: rows.links?.filter((line) => JSON.parse(line).purged_at === null) }
  }
  const readFixture = async (path: string) =>
    new File([await Bun.file(join(FIXTURES, path)).bytes()], path.split('/').at(-1) ?? '')
  const readAnalytics = async (own: TestWorkspace, query = '') =>
    (await own.api(`/analytics/clicks?interval=all&${query}`)).json.data
  const toCounts = (rows: Record<string, never>[], name: string) =>
    Object.fromEntries(rows.map((row) => [row[name], row.clicks]))

  async function expectLinks(own: TestWorkspace, { links }: Case) {
    for (const [address, fields] of Object.entries(links)) {
      const [domain = '', ...slug] = address.split('/')
      const find = async () => {
        const { json } = await own.api(`/links?domain=${domain}&archived=all&limit=100`)
        return json.data.find((link: { slug: string }) => link.slug === slug.join('/'))
      }
      const { clicks } = fields
      if (clicks !== undefined)
        await until(`${clicks} clicks of ${address}`, async () => (await find())?.clicks === clicks, 10_000)
      const found = await find()
      const tags = found?.tags.map(({ name }: { name: string }) => name).sort()
      expect([address, { ...found, tags }]).toEqual([address, expect.objectContaining(fields)])
    }
  }

  // The soak brings the files of all tools.
  const names = Object.keys(CASES)
  quick.each(atScale({ quick: names.slice(0, 2), full: names.slice(0, 5), soak: names }))(
    '%s',
    async (name: string) => {
      const wanted = CASES[name] as Case
      const own = await server.createWorkspace()
      const target: ImportTarget = { origin: server.origin, key: own.key }
      for (const { name: domain, caseSensitive, primary } of wanted.domains) {
        const fields = { case_sensitive: caseSensitive ? 1 : 0, is_primary: primary ? 1 : 0 }
        domainIds.push(await addVerifiedDomain(server, own.id, domain, fields))
      }
      await own.createLink({ domain: 'go.example', slug: `before-${own.id}`, tagNames: ['Was here'] })
      const before = await readRows()
      const upload = {
        fields: { source: wanted.source, ...wanted.fields },
        file: await readFixture(wanted.file),
        ...(wanted.clicks && { clicks: await readFixture(wanted.clicks) }),
      }

      // A dry run says the same, and changes nothing.
      const dry = await uploadAndRun(target, { ...upload, fields: { ...upload.fields, dryRun: true } })
      expect({ ...dry, errors: dry.errors.length && dry.errors }).toMatchObject({
        status: 'done',
        ...wanted.figures,
      })
      expect(await readRows()).toEqual(before)

      const done = await uploadAndRun(target, upload)
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
      const { clicks: people, countries, referrers } = wanted.analytics
      await until('the imported clicks', async () => (await readAnalytics(own))?.clicks >= people, 15_000)
      await expectLinks(own, wanted)
      for (const [address, userAgent, answer] of wanted.leads) {
        const [host = '', ...slug] = address.split('/')
        const { status, headers } = await callHost(server, host, `/${slug.join('/')}`, {
          headers: { 'User-Agent': userAgent, 'Sec-Purpose': 'prefetch' },
        })
        expect([address, `${status} ${headers.get('location') ?? ''}`.trim()]).toEqual([address, answer])
      }

      expect(await readAnalytics(own)).toMatchObject({ clicks: people, visitors: 0 })
      expect(toCounts(await readAnalytics(own, 'groupBy=country'), 'country')).toEqual(countries)
      expect(toCounts(await readAnalytics(own, 'groupBy=referrer'), 'referrer')).toEqual(referrers)

      // The same file again makes nothing and counts nothing.
      const rowsAfter = await readRows()
      const again = await uploadAndRun(target, upload)
      expect(again).toMatchObject({ status: 'done', created: 0, clicks: 0, failed })
      expect(await readRows()).toEqual(rowsAfter)
      expect(await readAnalytics(own)).toMatchObject({ clicks: people, visitors: 0 })

      const undone = await undoImport(target, done.id)
      expect(undone.kept).toEqual([])
      expect(await readRows()).toEqual(before)
      await until(
        'the imported clicks to be gone',
        async () => (await readAnalytics(own))?.clicks === 0,
        15_000,
      )
    },
  )
})
