// `towpath move` takes an installation from SQLite and DuckDB to PostgreSQL and ClickHouse while it serves, and although
// it is killed: nothing is lost, nothing counts twice, and the source stays as it was.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { createWorkspace } from '../../server/features/accounts/workspaces/create-workspace.ts'
import { openDatabase } from '../../server/storage/database/open-database.ts'
import {
  CLICKHOUSE_START_MS,
  type ClickHouseServer,
  getClickHouse,
} from '../support/clickhouse/clickhouse-server.ts'
import { closeAfterAll } from '../support/close-after-all.ts'
import { startDnsServer } from '../support/fake-servers/dns-server.ts'
import { migratedDatabase } from '../support/migrated-database.ts'
import type { TestDatabase } from '../support/postgres/postgres-server.ts'
import { proveDomain } from '../support/prove-domain.ts'
import { createRandomMs } from '../support/random.ts'
import { atScale } from '../support/suite.ts'
import { until } from '../support/until.ts'
import { createLinkOverHttp, readCountedClicks } from './click-counts.ts'
import { createFormOverHttp, isAcknowledged, readMarker, sendSubmission } from './form-submissions.ts'
import { importPastHits, type MoveProcess, runCommand, startCommand } from './move-command.ts'
import {
  adoptInstallation,
  createInstallation,
  type Installation,
  type ServerProcess,
} from './server-process.ts'

const randomMs = createRandomMs('kills of a move')

setDefaultTimeout(300_000)

const KILLS = atScale({ full: 1, soak: 40 })
const PAST_HITS = atScale({ full: 1500, soak: 60_000 })
const DAYS = 6

const DOMAIN = 'go.brand.example'

const closeLater = closeAfterAll()
const dns = await startDnsServer()
afterAll(() => dns.stop())
let clickHouse: ClickHouseServer

beforeAll(async () => {
  clickHouse = await getClickHouse()
}, CLICKHOUSE_START_MS)

interface Targets {
  databaseUrl: string
  clickHouseUrl: string
}

const createTargets = async (): Promise<Targets> => ({
  databaseUrl: (await migratedDatabase()).url,
  clickHouseUrl: await clickHouse.createDatabase(),
})

const toWords = ({ databaseUrl, clickHouseUrl }: Targets) => [
  'move',
  '--to-database',
  databaseUrl,
  '--to-clickhouse',
  clickHouseUrl,
]

const countHits = async ({ clickHouseUrl }: Targets, where = '1') =>
  Number(await clickHouse.query(`SELECT count() FROM hits WHERE ${where}`, toDatabaseName(clickHouseUrl)))

const toDatabaseName = (url: string) => new URL(url).pathname.slice(1)

/** A server with links, a form and hits of past days. */
async function createSource(): Promise<{ installation: Installation; server: ServerProcess; form: string }> {
  const installation = await createInstallation(1)
  closeLater(installation.end)
  const server = await installation.start({ environment: { DNS_SERVERS: dns.address } })
  const key = installation.keys[0] as string
  const { json } = await createLinkOverHttp('past', key, server)
  const form = await createFormOverHttp(server, installation)
  await importPastHits(installation.dataDir, {
    workspaceId: 1,
    linkId: json.data.id,
    hits: PAST_HITS,
    days: DAYS,
  })
  await until('the past hits in the answers', async () => {
    const { json } = await server.api(key, '/analytics/clicks?interval=30d')
    return (
      json.data?.clicks > PAST_HITS / 2 && !existsSync(join(installation.dataDir, 'incoming', 'past-1-1'))
    )
  })
  return { installation, server, form }
}

/** Hashes of everything that a move must not change. */
function hashSource(dataDir: string): Map<string, string> {
  const names = readdirSync(dataDir, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /^(towpath\.db|hits\.duckdb(\.wal)?|secret)$|^batches\/.*ndjson$|^spool\/(node|\d.*)$/.test(name),
  )
  return new Map(
    names.map((name) => [
      name,
      createHash('sha256')
        .update(readFileSync(join(dataDir, name)))
        .digest('hex'),
    ]),
  )
}

/** The past clicks are older than the workspace, so the analytics of all time do not have them. */
async function waitUntilCounted(server: ServerProcess, key: string): Promise<void> {
  const now = Date.now()
  await until('the counters of the links to agree with analytics', async () => {
    const { json, headers } = await server.api(key, '/analytics/clicks?interval=90d')
    if (!(Date.parse(headers.get('x-counted-until') ?? '') > now)) return false
    const links = await server.api(key, '/links?limit=100')
    // A key may ask 300 times a minute.
    await Bun.sleep(250)
    const sum = links.json.data?.reduce((total: number, link: { clicks: number }) => total + link.clicks, 0)
    return sum > 0 && sum === json.data?.clicks
  })
}

/** The owner's view: links with their counters, submissions, and clicks by several dimensions. */
async function readAnswers(server: ServerProcess, key: string): Promise<unknown[]> {
  await waitUntilCounted(server, key)
  const paths = ['/links?limit=100', '/submissions?limit=100', '/forms']
  for (const by of ['time', 'link', 'country', 'city', 'referrer', 'utmCampaign', 'trigger'])
    paths.push(`/analytics/clicks?interval=90d&groupBy=${by}`)
  const answers: unknown[] = []
  for (const path of paths) {
    const { status, json } = await until(path, async () => {
      const answer = await server.api(key, path)
      return answer.status === 503 ? undefined : answer
    })
    expect([path, status]).toEqual([path, 200])
    // Each server has a port of its own.
    answers.push([path, JSON.stringify(json).replaceAll(`:${new URL(server.origin).port}`, ':port')])
  }
  return answers
}

const STOP_NOW = 'Stop the server now'

describe('a move under load', () => {
  let installation: Installation
  let targets: Targets
  const clicks: string[] = []
  const forms: string[] = []
  let report: MoveProcess
  let before: Map<string, string>
  let answers: unknown[]

  beforeAll(async () => {
    const source = await createSource()
    installation = source.installation
    targets = await createTargets()
    const { server, form } = source
    const key = installation.keys[0] as string
    await createLinkOverHttp('live', key, server)
    await proveDomain((path, body) => server.api(key, path, body), dns, DOMAIN)
    const onDomain = { slug: 'live', domain: DOMAIN, destinationUrl: 'https://brand.example/' }
    await server.api(key, '/links', onDomain)
    let running = true
    const load = Promise.all([
      (async () => {
        for (let i = 0; running; i++) {
          const marker = `c${i}`
          if ((await server.click(`live?utm_term=${marker}`)).status === 302) clicks.push(marker)
          await Bun.sleep(5)
        }
      })(),
      (async () => {
        for (let i = 0; running; i++) {
          const marker = `f${i}`
          if (isAcknowledged(await sendSubmission(server, form, marker, 'script'), 'script'))
            forms.push(marker)
          await Bun.sleep(20)
        }
      })(),
    ])
    for (let kill = 0; kill < KILLS; kill++) {
      const mover = startCommand(installation.dataDir, toWords(targets))
      await Promise.race([Bun.sleep(randomMs(0, 2500)), mover.exited])
      await mover.kill()
    }
    let mover = startCommand(installation.dataDir, toWords(targets))
    await until('the end of the first part', () => {
      if (mover.output().includes('rows of')) throw new Error(mover.output())
      return mover.output().includes(STOP_NOW)
    })
    running = false
    await load
    answers = await readAnswers(server, key)
    expect(await server.stop()).toBe(0)
    // The command that moves has the file open, too.
    await mover.kill()
    before = hashSource(installation.dataDir)
    for (let kill = 0; kill < KILLS; kill++) {
      mover = startCommand(installation.dataDir, toWords(targets))
      await Promise.race([Bun.sleep(randomMs(0, 2500)), mover.exited])
      await mover.kill()
    }
    mover = startCommand(installation.dataDir, toWords(targets))
    const code = await mover.exited
    if (code !== 0) throw new Error(mover.output())
    report = mover
  })

  test('ends with the settings of the new server, without a password', async () => {
    expect(report.output()).toContain(`DATA_DIR=${installation.dataDir}`)
    for (const url of Object.values(targets)) {
      const { password, pathname } = new URL(url)
      expect(report.output()).toContain(pathname)
      expect(report.output()).not.toContain(password)
    }
  })

  test('leaves the source as it was', () => {
    expect(before.size).toBeGreaterThan(5)
    expect(hashSource(installation.dataDir)).toEqual(before)
  })

  test('has every hit once', async () => {
    expect(await countHits(targets, `link_id = 1`)).toBe(PAST_HITS)
    const rows = await clickHouse.query(
      "SELECT utm_term, count() FROM hits WHERE link_id = 2 AND outcome = 'redirect' GROUP BY utm_term FORMAT JSONCompactEachRow",
      toDatabaseName(targets.clickHouseUrl),
    )
    const counted = new Map(
      rows
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as [string, string]),
    )
    expect(clicks.length).toBeGreaterThan(10)
    expect(clicks.filter((marker) => !counted.has(marker))).toEqual([])
    expect([...counted].filter(([, count]) => Number(count) !== 1)).toEqual([])
  })

  test('has every acknowledged submission', async () => {
    const db = await openDatabase({ dataDir: installation.dataDir, databaseUrl: targets.databaseUrl })
    try {
      const rows = await db.read.selectFrom('submissions').select('fields').execute()
      const stored = new Set(rows.map(({ fields }) => readMarker(fields)))
      expect(forms.length).toBeGreaterThan(3)
      expect(forms.filter((marker) => !stored.has(marker))).toEqual([])
    } finally {
      await db.close()
    }
  })

  test('is a server with the same answers, which counts on', async () => {
    const key = installation.keys[0] as string
    const server = await adoptInstallation(installation.dataDir, [key], targets.databaseUrl).start({
      environment: { CLICKHOUSE_URL: targets.clickHouseUrl },
    })
    try {
      expect(await readAnswers(server, key)).toEqual(answers)
      expect((await server.click('live?utm_term=after')).status).toBe(302)
      const { headers } = await server.click('live', { Host: DOMAIN })
      expect(headers.get('location')).toBe('https://brand.example/')
      expect((await readCountedClicks(server, key, 'live')).get('after')).toBe(1)
      await waitUntilCounted(server, key)
    } finally {
      expect(await server.stop()).toBe(0)
    }
    expect(await countHits(targets, "utm_term = 'after'")).toBe(1)
  })

  test('says so when it is run again, and changes nothing', async () => {
    const before = [hashSource(installation.dataDir), await countHits(targets)]
    const { code, output } = await runCommand(installation.dataDir, toWords(targets))
    expect(code).toBe(0)
    expect(output).toContain('This move has ended already')
    expect([hashSource(installation.dataDir), await countHits(targets)]).toEqual(before)
    expect(existsSync(join(installation.dataDir, 'move'))).toBe(false)
  })
})

describe('a move without a server', () => {
  let dataDir: string
  let key: string
  let moved: Targets

  beforeAll(async () => {
    const { installation, server } = await createSource()
    dataDir = installation.dataDir
    key = installation.keys[0] as string
    await server.click('past')
    expect(await server.stop()).toBe(0)
    moved = await createTargets()
    await move(moved)
  })

  async function move(targets: Targets): Promise<string> {
    const { code, output } = await runCommand(dataDir, toWords(targets))
    if (code !== 0) throw new Error(output)
    return output
  }

  async function moveOrFail(words: string[], environment?: Record<string, string>): Promise<string> {
    const { code, output } = await runCommand(dataDir, words, environment)
    expect(code).toBe(1)
    return output
  }

  async function change(targets: Targets, ...statements: string[]) {
    const client = new pg.Client({ connectionString: targets.databaseUrl })
    await client.connect()
    for (const statement of statements) await client.query(statement)
    await client.end()
  }

  test('refuses stores that are not empty, or belong to another installation', async () => {
    const targets = await createTargets()
    const withRows = { ...targets, databaseUrl: (await createWorkspaceIn(await migratedDatabase())).url }
    expect(await moveOrFail(toWords(withRows))).toMatch(/is not empty: the table \w+ has rows/)
    const withHits = { ...targets, clickHouseUrl: moved.clickHouseUrl }
    expect(await moveOrFail(toWords(withHits))).toContain('The ClickHouse database has hits already')
    const other = await createInstallation(1)
    closeLater(other.end)
    const hits = await countHits(moved)
    const refusal = await runCommand(other.dataDir, toWords(moved))
    expect([refusal.code, refusal.output]).toEqual([1, expect.stringContaining('another installation')])
    expect(await countHits(moved)).toBe(hits)
  })

  test('names a table whose rows differ, although their number does not', async () => {
    await change(
      moved,
      "delete from move_steps where step in ('all/end', 'all/history')",
      "update links set title = 'x' where id = 1",
    )
    expect(await moveOrFail(toWords(moved))).toContain('The rows of the table links differ')
  })

  test('copies the rows again when the server has run since, but not after its last hits', async () => {
    const server = await adoptInstallation(dataDir, [key]).start()
    await createLinkOverHttp('later', key, server)
    expect((await server.click('past')).status).toBe(302)
    expect(await server.stop()).toBe(0)
    const hits = await countHits(moved)
    await move(moved)
    expect(await countHits(moved)).toBe(hits + 1)
    await change(
      moved,
      "delete from move_steps where step = 'all/end'",
      "update move_steps set detail = '{}' where step = 'all/stopped'",
    )
    expect(await moveOrFail(toWords(moved))).toContain('The server has run again')
  })

  test('names the workspace and the day of a hit that is missing', async () => {
    await change(moved, "delete from move_steps where step in ('all/stopped', 'all/history')")
    const name = toDatabaseName(moved.clickHouseUrl)
    const answer = await clickHouse.query('SELECT min(recorded_at), argMin(id, recorded_at) FROM hits', name)
    const [at, id] = answer.trim().split('\t').map(Number) as [number, number]
    await clickHouse.query(`ALTER TABLE hits DELETE WHERE id = ${id} SETTINGS mutations_sync = 2`, name)
    const output = await moveOrFail(toWords(moved))
    expect(output).toContain(`Workspace 1, ${new Date(at).toISOString().slice(0, 10)} (UTC)`)
    expect(output).toMatch(/(\d+) hits before the move, and (\d+) after it/)
  })

  test('moves only the rows, or only the hits, where only that is asked for', async () => {
    const targets = await createTargets()
    const [, ...words] = toWords(targets)
    const rows = await runCommand(dataDir, ['move', ...words.slice(0, 2)])
    expect(rows.output).toContain('rows of')
    expect(rows.output).not.toContain('CLICKHOUSE_URL')
    const environment = { DATABASE_URL: targets.databaseUrl }
    const hits = await runCommand(dataDir, ['move', ...words.slice(2)], environment)
    expect(hits.output).toContain(`${await countHits(targets)} hits`)
    expect(await countHits(targets)).toBeGreaterThan(PAST_HITS)
    expect(await moveOrFail(['move', ...words], environment)).toContain('DATABASE_URL is set')
  })

  test('says that a store cannot be reached, and never its password', async () => {
    const { databaseUrl } = await createTargets()
    const wrong = 'postgres://towpath:Very-Secret@127.0.0.1:9/towpath'
    const wrongUrl = 'http://towpath:Very-Secret@127.0.0.1:9/towpath'
    for (const [words, sentence] of [
      [['--to-database', wrong, '--to-clickhouse', wrongUrl], 'The PostgreSQL database cannot be reached'],
      [['--to-database', databaseUrl, '--to-clickhouse', wrongUrl], 'ClickHouse'],
    ] as const) {
      const output = await moveOrFail(['move', ...words])
      expect(output).toContain(sentence)
      expect(output).not.toContain('Very-Secret')
    }
  })
})

async function createWorkspaceIn(database: TestDatabase): Promise<TestDatabase> {
  const dataDir = mkdtempSync(join(tmpdir(), 'towpath-filled-'))
  const db = await openDatabase({ dataDir, databaseUrl: database.url })
  await createWorkspace({ db, now: Date.now }, { name: 'Other', plan: 'enterprise' })
  await db.close()
  rmSync(dataDir, { recursive: true, force: true })
  return database
}
