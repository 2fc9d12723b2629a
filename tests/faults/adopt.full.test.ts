// `towpath adopt` counts what a killed node has left in its directory: every acknowledged click once, however often the
// command runs or is killed.

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { adoptDirectory } from '../../server/cli/move/adopt-directory.ts'
import { readConfig } from '../../server/config/config.ts'
import { openSpool } from '../../server/features/hits/spool/spool.ts'
import { openDatabase } from '../../server/storage/database/open-database.ts'
import {
  CLICKHOUSE_START_MS,
  type ClickHouseServer,
  getClickHouse,
} from '../support/clickhouse/clickhouse-server.ts'
import { closeAfterAll } from '../support/close-after-all.ts'
import { startDnsServer } from '../support/fake-servers/dns-server.ts'
import { migratedDatabase } from '../support/migrated-database.ts'
import { proveDomain } from '../support/prove-domain.ts'
import { createRandomMs } from '../support/random.ts'
import { atScale } from '../support/suite.ts'
import { until } from '../support/until.ts'
import { createLinkOverHttp, readCountedClicks, waitUntilCountersAgree } from './click-counts.ts'
import { runCommand, startCommand } from './move-command.ts'
import {
  adoptInstallation,
  createInstallation,
  type Installation,
  type ServerProcess,
} from './server-process.ts'

const randomMs = createRandomMs('kills of an adoption')

setDefaultTimeout(300_000)

const KILLS = atScale({ full: 1, soak: 30 })
const CLICKS = atScale({ full: 200, soak: 4000 })

const DOMAIN = 'go.brand.example'

const closeLater = closeAfterAll()
const dns = await startDnsServer()
afterAll(() => dns.stop())
let clickHouse: ClickHouseServer
let environment: Record<string, string>
let databaseUrl: string
let dead: Installation
let alive: Installation
let server: ServerProcess
const acknowledged: string[] = []

beforeAll(async () => {
  clickHouse = await getClickHouse()
  databaseUrl = (await migratedDatabase()).url
  environment = {
    CLICKHOUSE_URL: await clickHouse.createDatabase(),
    TOWPATH_SECRET: `${'a5'.repeat(20)}Zq9`,
    DNS_SERVERS: dns.address,
  }
  alive = await createInstallation(1, databaseUrl)
  dead = adoptInstallation(mkdtempSync(join(tmpdir(), 'towpath-dead-')), alive.keys, databaseUrl)
  closeLater(dead.end)
  closeLater(alive.end)
  server = await alive.start({ environment })
  const key = alive.keys[0] as string
  await createLinkOverHttp('a', key, server)
  await proveDomain((path, body) => server.api(key, path, body), dns, DOMAIN)
  const node = await dead.start({ environment })
  // The worker of this node has a first batch, and what follows is in the spool when it is killed.
  for (let i = 0; i < CLICKS; i++) {
    const marker = `m${i}`
    const { status } = await node.click(`a?utm_term=${marker}`, { Referer: `https://${DOMAIN}/x` })
    if (status === 302) acknowledged.push(marker)
  }
  await node.kill()
}, CLICKHOUSE_START_MS)
afterAll(async () => {
  await server?.stop()
})

const adopt = (dir: string) =>
  [alive.dataDir, ['adopt', dir], { DATABASE_URL: databaseUrl, ...environment }] as [
    string,
    string[],
    Record<string, string>,
  ]

async function readNode(): Promise<{ left_at: number | null } | undefined> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  const id = (await Bun.file(join(dead.dataDir, 'spool/node')).text()).trim()
  const { rows } = await client.query('select left_at from nodes where node = $1', [id])
  await client.end()
  return rows[0]
}

async function countClicks(): Promise<number> {
  const name = new URL(environment.CLICKHOUSE_URL as string).pathname.slice(1)
  return Number(await clickHouse.query('SELECT count() FROM hits', name))
}

/** The refusal of the command, in this process. */
async function readRefusal(dir: string, more: Record<string, string> = {}): Promise<string> {
  const config = readConfig({ DATA_DIR: alive.dataDir, DATABASE_URL: databaseUrl, ...environment, ...more })
  const db = await openDatabase({ dataDir: config.dataDir, databaseUrl })
  const progress = { at() {}, end() {} }
  const needs = { db, config, progress, signal: new AbortController().signal, now: Date.now }
  try {
    return await adoptDirectory(needs, dir, false)
  } catch (error) {
    return String(error)
  } finally {
    await db.close()
  }
}

test('refuses what is not the directory of a dead node of this installation', async () => {
  const other = mkdtempSync(join(tmpdir(), 'towpath-other-'))
  const stranger = mkdtempSync(join(tmpdir(), 'towpath-stranger-'))
  await (await openSpool({ dir: join(stranger, 'spool') })).close()
  expect(await readRefusal(alive.dataDir)).toContain('is the DATA_DIR of this command')
  expect(await readRefusal(other)).toContain('is not the data directory of a server')
  expect(await readRefusal(join(other, 'none'))).toContain('is not the data directory of a server')
  expect(await readRefusal(dead.dataDir, { CLICKHOUSE_URL: '' })).toContain(
    'Set DATABASE_URL and CLICKHOUSE_URL',
  )
  expect(await readRefusal(alive.dataDir, { DATA_DIR: other })).toContain('A server runs on')
  expect(await readRefusal(stranger)).toContain('has never run on this database')
  for (const dir of [other, stranger]) rmSync(dir, { recursive: true, force: true })
})

test('counts every acknowledged click once, although it is killed', async () => {
  expect(acknowledged).toHaveLength(CLICKS)
  for (let kill = 0; kill < KILLS; kill++) {
    const command = startCommand(...adopt(dead.dataDir))
    await Promise.race([Bun.sleep(randomMs(300, 2000)), command.exited])
    await command.kill()
  }
  const { code, output } = await runCommand(...adopt(dead.dataDir))
  if (code !== 0) throw new Error(output)
  expect(output).toContain('You can delete it')
  const counted = await readCountedClicks(server, alive.keys[0] as string, 'a')
  const rows = await readTerms()
  expect(acknowledged.filter((marker) => rows.get(marker) !== 1)).toEqual([])
  expect(counted.size).toBe(Math.min(CLICKS, 1000))
  expect(await countClicks()).toBe(CLICKS)
  await waitUntilCountersAgree(server, alive.keys)
  // A domain is no source of visitors, for the command that describes the hits neither.
  const { json } = await server.api(alive.keys[0] as string, '/analytics/clicks?groupBy=referrer')
  expect(json.data).toMatchObject([{ referrer: '(direct)', clicks: CLICKS }])
  await until('the node to have left', async () => typeof (await readNode())?.left_at === 'string')
})

async function readTerms(): Promise<Map<string, number>> {
  const name = new URL(environment.CLICKHOUSE_URL as string).pathname.slice(1)
  const text = await clickHouse.query('SELECT utm_term, count() FROM hits GROUP BY utm_term', name)
  return new Map(
    text
      .trim()
      .split('\n')
      .map((line) => line.split('\t') as [string, string])
      .map(([term, count]) => [term, Number(count)]),
  )
}

test('changes nothing when it is run again', async () => {
  const { code, output } = await runCommand(...adopt(dead.dataDir))
  expect([code, output]).toEqual([0, expect.stringContaining('has no clicks left to count')])
  expect(await countClicks()).toBe(CLICKS)
})
