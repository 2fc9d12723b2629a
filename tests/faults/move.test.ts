// `towpath move` takes an installation from SQLite and DuckDB to PostgreSQL and ClickHouse while it serves, and although
// it is killed: nothing is lost, nothing counts twice, and the source stays as it was.

import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openDatabase } from '../../server/storage/database/open-database.ts'
import {
  CLICKHOUSE_START_MS,
  type ClickHouseServer,
  getClickHouse,
} from '../support/clickhouse/clickhouse-server.ts'
import { closeAfterAll } from '../support/close-after-all.ts'
import { migratedDatabase } from '../support/migrated-database.ts'
import { atScale } from '../support/scale.ts'
import { until } from '../support/until.ts'
import { createLinkOverHttp } from './click-counts.ts'
import { createFormOverHttp, isAcknowledged, readMarker, sendSubmission } from './form-submissions.ts'
import { importPastHits, type MoveProcess, runCommand, startCommand } from './move-command.ts'
import { createInstallation, type Installation, randomMs, type ServerProcess } from './server-process.ts'

setDefaultTimeout(300_000)

const KILLS = atScale({ test: 2, soak: 40 })
const PAST_HITS = atScale({ test: 3000, soak: 60_000 })
const DAYS = 6

const closeLater = closeAfterAll()
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
  const server = await installation.start()
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
    /^(towpath\.db(-wal)?|hits\.duckdb(\.wal)?|secret)$|^batches\/.*ndjson$|^spool\/(node|\d.*)$/.test(name),
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

const STOP_NOW = 'Stop the server now'

describe('a move under load', () => {
  let installation: Installation
  let targets: Targets
  const clicks: string[] = []
  const forms: string[] = []
  let report: MoveProcess

  beforeAll(async () => {
    const source = await createSource()
    installation = source.installation
    targets = await createTargets()
    const { server, form } = source
    const key = installation.keys[0] as string
    await createLinkOverHttp('live', key, server)
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
    expect(await server.stop()).toBe(0)
    for (let kill = 0; kill < KILLS; kill++) {
      await Promise.race([Bun.sleep(randomMs(0, 2500)), mover.exited])
      await mover.kill()
      mover = startCommand(installation.dataDir, toWords(targets))
    }
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

  test('says so when it is run again, and changes nothing', async () => {
    const before = [hashSource(installation.dataDir), await countHits(targets)]
    const { code, output } = await runCommand(installation.dataDir, toWords(targets))
    expect(code).toBe(0)
    expect(output).toContain('This move has ended already')
    expect([hashSource(installation.dataDir), await countHits(targets)]).toEqual(before)
    expect(existsSync(join(installation.dataDir, 'move'))).toBe(false)
  })
})
