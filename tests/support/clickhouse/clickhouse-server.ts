// Starts a real ClickHouse for tests, as a process of its own (clickhouse-process.ts): one for each process of a test
// run, and separate ones for the tests that stop or kill it.

import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClickHouseClient } from '../../../server/storage/hits/clickhouse/client.ts'
import { migrateTables } from '../../../server/storage/hits/clickhouse/layout.ts'
import { findFreePort } from '../processes/free-port.ts'
import { createProcessGuard } from '../processes/process-guard.ts'
import { ensureChdbLibrary } from './chdb-library.ts'

/** Give it to `beforeAll`: the first test of a machine installs ClickHouse. */
export const CLICKHOUSE_START_MS = 300_000
const USER = 'towpath'

export interface ClickHouseServer {
  /** The address of the database `default`, with user and password. */
  url: string
  /** The process, for measurements. */
  pid(): number
  running(): boolean
  /** Makes an empty database. @returns its address */
  createDatabase(): Promise<string>
  /**
   * A database with the tables of this release, which are empty. It is one that another test has had, where its tables are
   * as they were made: emptying them takes a tenth of the time of making them.
   * @returns its address
   */
  takeDatabase(): Promise<string>
  /** Ends the use of all databases: those that were taken are emptied, and others dropped. */
  dropDatabases(): Promise<void>
  /** Runs a statement. @returns its answer as text */
  query(sql: string, database?: string): Promise<string>
  /** Ends the connection, without an answer, after the next statement that contains this text has run. */
  cutAnswerAfter(text: string): Promise<void>
  /** Sends SIGKILL and waits for the end. `start` continues with the data, on the same port. */
  kill(): Promise<void>
  start(): Promise<void>
  /** Ends the server and removes its data. */
  end(): Promise<void>
}

export async function startClickHouse(): Promise<ClickHouseServer> {
  const library = ensureChdbLibrary()
  const home = mkdtempSync(join(tmpdir(), 'towpath-clickhouse-'))
  const dataDir = join(home, 'data')
  mkdirSync(dataDir)
  const guard = createProcessGuard(home)
  const port = findFreePort()
  const password = randomBytes(12).toString('hex')
  const origin = `http://127.0.0.1:${port}`
  let child: ReturnType<typeof launch> | undefined
  let made = 0
  const databases = new Set<string>()
  const toUrl = (name: string) => `http://${USER}:${password}@127.0.0.1:${port}/${name}`
  const pool = createDatabasePool(query)

  async function query(sql: string, database = 'default') {
    const headers = { 'X-ClickHouse-User': USER, 'X-ClickHouse-Key': password }
    const response = await fetch(`${origin}/?database=${database}`, { method: 'POST', headers, body: sql })
    const text = await response.text()
    if (!response.ok) throw new Error(text)
    return text
  }

  const server: ClickHouseServer = {
    url: toUrl('default'),
    pid: () => child?.pid ?? 0,
    running: () => child !== undefined && child.exitCode === null && child.signalCode === null,
    query,
    async createDatabase() {
      const name = `test_${++made}_${randomBytes(4).toString('hex')}`
      await query(`CREATE DATABASE ${name}`)
      databases.add(name)
      return toUrl(name)
    },
    async takeDatabase() {
      const ready = pool.take()
      if (ready !== undefined) {
        databases.add(ready)
        return toUrl(ready)
      }
      const url = await server.createDatabase()
      const client = createClickHouseClient([url])
      await migrateTables(client).finally(client.close)
      await pool.noteMade(new URL(url).pathname.slice(1))
      return url
    },
    async dropDatabases() {
      for (const name of databases) {
        databases.delete(name)
        if (!(await pool.giveBack(name))) await query(`DROP DATABASE ${name} SYNC`)
      }
    },
    async cutAnswerAfter(text) {
      await fetch(`${origin}/test/cut-answer?after=${encodeURIComponent(text)}`)
    },
    async kill() {
      child?.kill('SIGKILL')
      await child?.exited
      guard.watch(undefined)
    },
    async start() {
      if (server.running()) return
      child = launch([library, dataDir, String(port), USER, password])
      guard.watch(child.pid)
      await waitUntilReady(child)
    },
    async end() {
      await server.kill()
      await guard.end()
    },
  }
  await server.start().catch(async (error) => {
    await server.end()
    throw error
  })
  return server
}

/** The databases of tests that have ended, with empty tables. */
function createDatabasePool(query: ClickHouseServer['query']) {
  const ready: string[] = []
  const taken = new Set<string>()
  /** The tables of a database that no test has had. */
  let untouched: string | undefined
  const readTables = (name: string) =>
    query(
      `SELECT replaceAll(create_table_query, '${name}', ''), engine FROM system.tables WHERE database = '${name}' ORDER BY name`,
    )
  const hasOwner = async (name: string) =>
    (await query(`SELECT count(), max(instance) FROM ${name}.hit_layout`)).trim() !== '1'

  return {
    take() {
      const name = ready.pop()
      if (name !== undefined) taken.add(name)
      return name
    },
    async noteMade(name: string) {
      taken.add(name)
      untouched ??= await readTables(name)
    },
    /** @returns whether another test may have it */
    async giveBack(name: string): Promise<boolean> {
      if (!taken.delete(name) || (await readTables(name)) !== untouched || (await hasOwner(name)))
        return false
      const tables = await query(`SELECT name FROM system.tables WHERE database = '${name}'`)
      for (const table of tables.trim().split('\n'))
        if (table !== 'hit_layout') await query(`TRUNCATE TABLE ${name}.${table} SYNC`)
      ready.push(name)
      return true
    },
  }
}

let shared: Promise<ClickHouseServer> | undefined

/** The server of this process of the test run. Do not end it. A file that kills it starts it again. */
export function getClickHouse(): Promise<ClickHouseServer> {
  shared ??= startClickHouse()
  return shared
}

/** setup.ts calls this after each test file. */
export async function dropClickHouseDatabases(): Promise<void> {
  // A file that could not start it has failed already.
  const server = await shared?.catch(() => undefined)
  if (server?.running()) await server.dropDatabases()
}

const launch = (args: string[]) =>
  Bun.spawn([process.execPath, join(import.meta.dir, 'clickhouse-process.ts'), ...args], {
    cwd: tmpdir(),
    env: { PATH: process.env.PATH },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
  })

async function waitUntilReady(child: ReturnType<typeof launch>) {
  const decoder = new TextDecoder()
  let output = ''
  for await (const chunk of child.stdout) {
    output += decoder.decode(chunk, { stream: true })
    if (output.includes('ready')) {
      child.unref()
      return
    }
  }
  throw new Error(`ClickHouse did not start: it ended with ${await child.exited}`)
}
