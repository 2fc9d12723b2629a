// Starts a complete server for a test file: real stores in a temporary directory, and a real socket for HTTP requests.

import { afterAll, beforeAll, describe } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type App, createApp } from '../../../server/app.ts'
import { readConfig } from '../../../server/config.ts'
import { createKey } from '../../../server/features/accounts/access/keys.ts'
import { createWorkspace } from '../../../server/features/accounts/workspaces/create-workspace.ts'
import type { Plan } from '../../../server/lib/plan.ts'
import { listen } from '../../../server/listen.ts'
import { openServices, type ServiceOptions, type Services } from '../../../server/services.ts'
import type { DatabaseEngine } from '../../../server/storage/database/open-database.ts'
import { getEmptyDnsServer } from '../fake-servers/dns-server.ts'
import { migratedDatabase, writeMigratedFile } from '../migrated-database.ts'
import { findFreePort } from '../processes/free-port.ts'
import { type HttpAnswer, type HttpCall, readAnswer } from './http-call.ts'

export const ENGINES: DatabaseEngine[] = ['sqlite', 'postgres']

/** The User-Agent of a person's browser. Without it, a click counts as a bot's. */
export const BROWSER_USER_AGENT =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1'

export interface TestWorkspace {
  id: number
  key: string
  /** Calls `/v1` + path with the workspace's key. */
  api(path: string, call?: HttpCall): Promise<HttpAnswer>
  /** Creates a link. @returns the link as the API answers it @throws when the API refuses it */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  createLink(fields?: Record<string, unknown>): Promise<any>
}

export interface TestServer {
  engine: DatabaseEngine
  origin: string
  app: Services & App
  dataDir: string
  databaseUrl: string | undefined
  call(path: string, call?: HttpCall): Promise<HttpAnswer>
  /** Opens a short link as a browser does, without following it. */
  click(slug: string, headers?: Record<string, string>): Promise<HttpAnswer>
  /** Creates a workspace with an API key. The default plan has the highest limits. */
  createWorkspace(plan?: Plan): Promise<TestWorkspace>
  /** Resolves when analytics and the counters of the links include every click answered so far. */
  waitUntilShipped(): Promise<void>
  close(): Promise<void>
}

export interface TestServerOptions extends ServiceOptions {
  environment?: Record<string, string>
}

export async function startServer(
  engine: DatabaseEngine,
  options: TestServerOptions = {},
): Promise<TestServer> {
  const dataDir = mkdtempSync(join(tmpdir(), 'towpath-test-'))
  const database = engine === 'postgres' ? await migratedDatabase() : undefined
  if (!database) await writeMigratedFile(dataDir)
  const port = Number(options.environment?.PORT ?? findFreePort())
  const config = readConfig({
    PORT: String(port),
    HOST: '127.0.0.1',
    DATA_DIR: dataDir,
    DATABASE_URL: database?.url,
    LOG_LEVEL: 'silent',
    // A test machine may have little room.
    DISK_RESERVE_MB: '0',
    DNS_SERVERS: (await getEmptyDnsServer()).address,
    // `FAST_PATH=off` runs any test file without the fast path.
    FAST_PATH: process.env.FAST_PATH,
    // Open sign-up needs a mail server. Nothing listens at this one.
    ...(options.environment?.SIGNUP === 'open' && {
      SMTP_URL: 'smtp://127.0.0.1:9',
      MAIL_FROM: 'go@towpath.example',
    }),
    ...options.environment,
  })
  const services = await openServices(config, options)
  const app = { ...services, ...createApp(services) }
  const server = listen(config, app)
  const origin = `http://127.0.0.1:${port}`

  async function call(
    path: string,
    { method = 'GET', body, headers = {} }: HttpCall = {},
  ): Promise<HttpAnswer> {
    const json = body !== undefined && typeof body !== 'string'
    const response = await fetch(origin + path, {
      method,
      redirect: 'manual',
      headers: { ...(body === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers },
      body: json ? JSON.stringify(body) : (body as string | undefined),
    })
    return readAnswer(response)
  }

  return {
    engine,
    origin,
    app,
    dataDir,
    databaseUrl: database?.url,
    call,
    click: (slug, headers = {}) =>
      call(`/${slug}`, { headers: { 'User-Agent': BROWSER_USER_AGENT, ...headers } }),
    async createWorkspace(plan = 'enterprise') {
      const needs = { db: app.db, now: Date.now }
      const { id } = await createWorkspace(needs, { name: 'Test', plan })
      const { key } = await createKey(needs, id, 'test')
      const api: TestWorkspace['api'] = (path, { headers, ...rest } = {}) =>
        call(`/v1${path}`, { ...rest, headers: { Authorization: `Bearer ${key}`, ...headers } })
      return {
        id,
        key,
        api,
        async createLink(fields = {}) {
          const { status, text, json } = await api('/links', {
            method: 'POST',
            body: { destinationUrl: 'https://example.com/', ...fields },
          })
          if (status !== 201) throw new Error(`the link was not created: ${status} ${text}`)
          return json.data
        },
      }
    },
    waitUntilShipped: () => app.hitWorker.drain(),
    async close() {
      await server.stop(true)
      await app.close()
      await database?.drop()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

type ServerTests = (server: () => TestServer, engine: DatabaseEngine) => void

/** Runs the tests on SQLite and on PostgreSQL: for behaviour that depends on the database. */
export function onBothEngines(name: string, tests: ServerTests, options?: TestServerOptions) {
  for (const engine of ENGINES) onEngine(engine, name, tests, options)
}

/** Runs the tests on SQLite only: for behaviour that does not depend on the database, such as parsing requests. */
export function onSqlite(name: string, tests: ServerTests, options?: TestServerOptions) {
  onEngine('sqlite', name, tests, options)
}

function onEngine(engine: DatabaseEngine, name: string, tests: ServerTests, options?: TestServerOptions) {
  // Blocks without options share one server for each engine of a file.
  if (!options) afterAll(closeShared)
  describe(`${name} (${engine})`, () => {
    let server: TestServer
    beforeAll(async () => {
      server = await (options ? startServer(engine, options) : sharedServer(engine))
    }, 120_000)
    if (options) afterAll(() => server?.close())
    tests(() => server, engine)
  })
}

const shared = new Map<DatabaseEngine, Promise<TestServer>>()

function sharedServer(engine: DatabaseEngine): Promise<TestServer> {
  const server = shared.get(engine) ?? startServer(engine)
  shared.set(engine, server)
  return server
}

async function closeShared() {
  const servers = [...shared.values()]
  shared.clear()
  for (const server of servers) await (await server).close()
}
