// Starts a real ClickHouse for tests, as a process of its own (clickhouse-process.ts): one for each process of a test
// run, and separate ones for the tests that stop or kill it.

import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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
  /** Drops the databases that were made: each costs the server time in the background for its two dozen tables. */
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

  async function query(sql: string, database = 'default') {
    const headers = { 'X-ClickHouse-User': USER, 'X-ClickHouse-Key': password }
    const response = await fetch(`${origin}/?database=${database}`, { method: 'POST', headers, body: sql })
    const text = await response.text()
    if (!response.ok) throw new Error(text)
    return text
  }

  const server: ClickHouseServer = {
    url: `http://${USER}:${password}@127.0.0.1:${port}/default`,
    pid: () => child?.pid ?? 0,
    running: () => child !== undefined && child.exitCode === null && child.signalCode === null,
    query,
    async createDatabase() {
      const name = `test_${++made}_${randomBytes(4).toString('hex')}`
      await query(`CREATE DATABASE ${name}`)
      databases.add(name)
      return `http://${USER}:${password}@127.0.0.1:${port}/${name}`
    },
    async dropDatabases() {
      for (const name of databases) {
        databases.delete(name)
        await query(`DROP DATABASE ${name} SYNC`)
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

let shared: Promise<ClickHouseServer> | undefined

/** The server of this process of the test run. Use `createDatabase`, and neither stop nor end it. */
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
