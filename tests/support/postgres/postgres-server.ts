// Starts real PostgreSQL servers for tests: one server for each process of a test run, an empty database for each test
// file, and separate servers for the tests that crash them.

import { randomBytes } from 'node:crypto'
import {
  accessSync,
  chownSync,
  closeSync,
  constants,
  mkdtempSync,
  openSync,
  readFileSync,
  statfsSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { toSmallDiskCommand } from '../../faults/small-disk.ts'
import { findFreePort } from '../processes/free-port.ts'
import { createProcessGuard, type ProcessGuard } from '../processes/process-guard.ts'
import { findPostgresUser, getPostgresPrograms } from './postgres-programs.ts'

/** The shutdown modes of https://www.postgresql.org/docs/current/server-shutdown.html, and `kill` for SIGKILL. */
type StopMode = 'smart' | 'fast' | 'immediate' | 'kill'

const STOP_SIGNALS = { smart: 'SIGTERM', fast: 'SIGINT', immediate: 'SIGQUIT', kill: 'SIGKILL' } as const
const START_WITHIN_MS = 60_000
const MEMORY = '/dev/shm'
const MEMORY_BYTES = 2 * 1024 ** 3

export interface PostgresServer {
  /** The URL of an empty database. Its owner is no superuser, but may create databases. */
  url: string
  /** The directory of its data and its log. `end` removes it. */
  dir: string
  /** The process that runs now, or ran last. */
  pid(): number
  running(): boolean
  /** Keeps the data: `start` continues with it, on the same port. */
  stop(mode?: StopMode): Promise<void>
  start(): Promise<void>
  restart(mode?: StopMode): Promise<void>
  /** Stops the server and removes its data. */
  end(): Promise<void>
}

interface PostgresOptions {
  /** Keeps fsync on, for tests that count what survived a crash. */
  durable?: boolean
  settings?: Record<string, string>
  /** Gives the data a disk of this size in memory, which ends with the process. Only root may mount one. */
  diskBytes?: number
}

export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const programs = getPostgresPrograms()
  const home = createClusterHome(options.durable ? tmpdir() : dataParent())
  const password = randomBytes(12).toString('hex')
  await createCluster(home, join(programs, 'initdb'), password)
  const settings = {
    ...(options.durable ? {} : { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }),
    ...options.settings,
  }
  const port = findFreePort()
  const url = (user: string) => `postgres://${user}:${password}@127.0.0.1:${port}/${user}`
  let server: ReturnType<typeof launch> | undefined
  const running = () => server !== undefined && server.exitCode === null && server.signalCode === null

  async function start() {
    if (running()) return
    const deadline = Date.now() + START_WITHIN_MS
    for (;;) {
      server = launch(home, join(programs, 'postgres'), port, settings, options.diskBytes)
      const failed = await waitUntilReady(server, url('postgres'), deadline)
      if (failed === undefined) return
      // Both errors are temporary: another process may use the port for a short-lived connection, and the children of
      // a killed postmaster may still hold its shared memory.
      const isTemporary = /could not bind|still in use/.test(failed)
      if (!isTemporary || Date.now() > deadline) throw new Error(`PostgreSQL did not start:\n${failed}`)
      await Bun.sleep(100)
    }
  }

  async function stop(mode: StopMode = 'fast') {
    if (!running()) return
    server?.kill(STOP_SIGNALS[mode])
    await server?.exited
    home.guard.watch(undefined)
  }

  async function end() {
    await home.guard.end()
    await server?.exited
  }

  async function restart(mode?: StopMode) {
    await stop(mode)
    await start()
  }

  try {
    await start()
    const role = `create role towpath login createdb password '${password}'`
    await query(url('postgres'), role, 'create database towpath owner towpath')
  } catch (error) {
    await end()
    throw error
  }
  const pid = () => server?.pid ?? 0
  return { url: url('towpath'), dir: home.dir, pid, running, stop, start, restart, end }
}

interface ClusterHome {
  dir: string
  as: { uid: number; gid: number } | undefined
  guard: ProcessGuard
}

/**
 * The parent directory of the data: in memory when at least 2 GiB are free. Each database has about 300 files. On ext4,
 * creating them takes 0.3 s when many files were deleted in the last five seconds (`recently_deleted` in
 * fs/ext4/ialloc.c).
 */
function dataParent(): string {
  try {
    const { bavail, bsize } = statfsSync(MEMORY)
    accessSync(MEMORY, constants.W_OK)
    return bavail * bsize >= MEMORY_BYTES ? MEMORY : tmpdir()
  } catch {
    return tmpdir() // not Linux
  }
}

function createClusterHome(parent: string): ClusterHome {
  const as = findPostgresUser()
  const dir = mkdtempSync(join(parent, 'towpath-pg-'))
  const guard = createProcessGuard(dir)
  if (as) chownSync(dir, as.uid, as.gid)
  return { dir, as, guard }
}

async function createCluster({ dir, as, guard }: ClusterHome, initdb: string, password: string) {
  const passwordFile = join(dir, 'password')
  writeFileSync(passwordFile, password, { mode: 0o600 })
  if (as) chownSync(passwordFile, as.uid, as.gid)
  // A password, because every user of this machine can reach the port. C.UTF-8 sorts by code point and exists on every
  // Debian system.
  const run = Bun.spawn(
    [
      initdb,
      '-D',
      join(dir, 'data'),
      '-U',
      'postgres',
      '-A',
      'scram-sha-256',
      `--pwfile=${passwordFile}`,
      '--no-sync',
      '--encoding=UTF8',
      '--locale=C.UTF-8',
    ],
    { ...as, cwd: dir, env: { PATH: process.env.PATH }, stdin: 'ignore', stdout: 'ignore', stderr: 'pipe' },
  )
  guard.watch(run.pid)
  const errors = await new Response(run.stderr).text()
  const failed = (await run.exited) !== 0
  guard.watch(undefined)
  if (!failed) return
  await guard.end()
  throw new Error(`initdb failed:\n${errors}`)
}

function launch(
  { dir, as, guard }: ClusterHome,
  postgres: string,
  port: number,
  settings: Record<string, string>,
  diskBytes?: number,
) {
  const logFile = join(dir, 'log')
  const log = openSync(logFile, 'w')
  const all: Record<string, string> = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    max_connections: '200',
    ...settings,
  }
  const data = join(dir, 'data')
  // Root mounts the disk, and then becomes the user.
  const onDisk = diskBytes
    ? {
        prefix: [
          ...toSmallDiskCommand(data, diskBytes),
          ...(as ? ['setpriv', `--reuid=${as.uid}`, `--regid=${as.gid}`, '--clear-groups'] : []),
        ],
        user: undefined,
      }
    : { prefix: [], user: as }
  const server = Bun.spawn(
    [
      ...onDisk.prefix,
      postgres,
      '-D',
      data,
      ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ],
    {
      ...onDisk.user,
      cwd: dir,
      env: { PATH: process.env.PATH },
      stdin: 'ignore',
      stdout: log,
      stderr: log,
      detached: true,
    },
  )
  closeSync(log)
  server.unref()
  guard.watch(server.pid)
  return Object.assign(server, { readLog: () => readFileSync(logFile, 'utf8') })
}

/** @returns undefined once the server answers, or its log when it ended or did not answer in time */
async function waitUntilReady(server: ReturnType<typeof launch>, url: string, deadline: number) {
  let lastError: unknown
  while (server.exitCode === null && server.signalCode === null) {
    try {
      await query(url, 'select 1')
      return undefined
    } catch (error) {
      lastError = error
    }
    if (Date.now() > deadline) return `${server.readLog()}\n${lastError}`
    await Bun.sleep(25)
  }
  return server.readLog()
}

async function query(url: string, ...statements: string[]) {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 })
  // Without a listener, a lost connection would end the whole test run.
  client.on('error', () => {})
  try {
    await client.connect()
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}

let shared: Promise<PostgresServer> | undefined
const databases = new Set<() => Promise<void>>()

/**
 * The URL of the server that tests share: TEST_DATABASE_URL, or a server that starts at the first call. Each process of
 * a run has one, because a start takes three seconds of processor time. Its guard ends it when the process ends.
 */
export async function postgresUrl(): Promise<string> {
  const configured = process.env.TEST_DATABASE_URL
  if (configured) return configured
  shared ??= startPostgres()
  return (await shared).url
}

export interface TestDatabase {
  url: string
  drop(): Promise<void>
}

/** Creates an empty database, which is dropped at the end of the test file at the latest. */
export async function createTestDatabase(): Promise<TestDatabase> {
  return dropAfterFile(await createDatabase())
}

/** @param template the URL of a database without connections; the new database is a copy of it */
export async function createDatabase(template?: string): Promise<TestDatabase> {
  const server = await postgresUrl()
  const name = `towpath_test_${randomBytes(8).toString('hex')}`
  const templateClause = template ? ` template ${new URL(template).pathname.slice(1)}` : ''
  await query(server, `create database ${name}${templateClause}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  return { url: url.href, drop: () => dropDatabase(server, name) }
}

/** Autovacuum may be in the database, and only a superuser may end it. It ends by itself within moments. */
async function dropDatabase(server: string, name: string): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      return await query(server, `drop database if exists ${name} with (force)`)
    } catch (error) {
      if (tries === 100 || !/pg_signal_backend/.test(String(error))) throw error
      await Bun.sleep(50)
    }
  }
}

/** Drops the database at the end of the test file, unless the test drops it before. */
export function dropAfterFile({ url, drop }: TestDatabase): TestDatabase {
  const dropOnce = async () => {
    if (databases.delete(dropOnce)) await drop()
  }
  databases.add(dropOnce)
  return { url, drop: dropOnce }
}

/** setup.ts calls this after each test file: the server may be one that others use too. */
export async function dropDatabases(): Promise<void> {
  for (const drop of databases) await drop()
}
