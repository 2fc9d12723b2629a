// The one way for a test to make a server, a workspace, a link, a click, a form, a submission and a clock. A server is
// complete: real stores in a temporary directory, and a real socket for HTTP requests.

import { afterAll, beforeAll, describe } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Insertable, Selectable, Updateable } from 'kysely'
import { readConfig } from '../../server/config/config.ts'
import { createKey } from '../../server/features/accounts/access/keys.ts'
import { createWorkspace } from '../../server/features/accounts/workspaces/create-workspace.ts'
import type { Plan } from '../../server/lib/plan.ts'
import { openServices, type ServiceOptions, type Services } from '../../server/start/services.ts'
import type { DatabaseEngine } from '../../server/storage/database/open-database.ts'
import type { Tables } from '../../server/storage/database/tables.ts'
import { listen } from '../../server/web/listen.ts'
import { type App, createApp } from '../../server/web/routes.ts'
import { getEmptyDnsServer } from './fake-servers/dns-server.ts'
import { migratedDatabase, writeMigratedFile } from './migrated-database.ts'
import { findFreePort } from './processes/free-port.ts'
import { type HttpAnswer, type HttpCall, readAnswer, toVerbs, type Verbs } from './server/http-call.ts'
import { startReaderHere } from './server/reader-here.ts'
import { createWorkerHere } from './server/worker-here.ts'
import { SUITE } from './suite.ts'

/** Without PostgreSQL on the machine, run.ts says that it is left out. */
export const BOTH_ENGINES: DatabaseEngine[] =
  process.env.TEST_WITHOUT_POSTGRES === 'yes' ? ['sqlite'] : ['sqlite', 'postgres']
/** The quick suite proves on SQLite what is the same on both. */
export const ENGINES: DatabaseEngine[] = SUITE === 'quick' ? ['sqlite'] : BOTH_ENGINES

/** The User-Agent of a person's browser. Without it, a click counts as a bot's. */
export const BROWSER_USER_AGENT =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1'

export interface TestWorkspace extends Verbs {
  id: number
  /** The id that the snippet names. */
  publicId: string
  key: string
  /** Calls `/v1` + path with the workspace's key. */
  api(path: string, call?: HttpCall): Promise<HttpAnswer>
  /** Creates a link. @returns the link as the API answers it @throws when the API refuses it */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  createLink(fields?: Record<string, unknown>): Promise<any>
  /** Creates a form. @returns the form as the API answers it @throws when the API refuses it */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  createForm(settings?: Record<string, unknown>): Promise<any>
}

/** The settings of a mail server that does not answer: nothing listens there. */
export const DEAD_MAIL_SERVER = { SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'go@towpath.example' }

type Later = Awaited<ReturnType<Services['openLater']>>

export interface TestServer extends Verbs {
  engine: DatabaseEngine
  origin: string
  app: Services & Later & App & { routes: Awaited<ReturnType<App['loadRoutes']>> }
  dataDir: string
  databaseUrl: string | undefined
  call(path: string, call?: HttpCall): Promise<HttpAnswer>
  /** Opens a short link as a browser does, without following it. */
  click(slug: string, headers?: Record<string, string>): Promise<HttpAnswer>
  /** Sends a form as a script does: the answer is JSON. */
  submit(
    formKey: string,
    fields: Record<string, unknown>,
    headers?: Record<string, string>,
  ): Promise<HttpAnswer>
  /** The rows of a table that have these values, in the order of their ids. */
  rows<T extends keyof Tables>(
    table: T,
    values?: Partial<Selectable<Tables[T]>>,
  ): Promise<Selectable<Tables[T]>[]>
  /** The one row of a table that has these values. @throws when there is none, or another one */
  row<T extends keyof Tables>(
    table: T,
    values?: Partial<Selectable<Tables[T]>>,
  ): Promise<Selectable<Tables[T]>>
  insert<T extends keyof Tables>(
    table: T,
    values: Insertable<Tables[T]> | Insertable<Tables[T]>[],
  ): Promise<unknown>
  /** Changes the rows of a table that have these values. */
  update<T extends keyof Tables>(
    table: T,
    values: Partial<Selectable<Tables[T]>>,
    changes: Updateable<Tables[T]>,
  ): Promise<unknown>
  /** The server's clock, in milliseconds. */
  now(): number
  /** Moves the server's clock forward. */
  advanceClock(ms: number): void
  /** Creates a workspace with an API key. The default plan has the highest limits. */
  createWorkspace(plan?: Plan): Promise<TestWorkspace>
  /** Resolves when analytics and the counters of the links include every click answered so far. */
  waitUntilShipped(): Promise<void>
  /** From now on questions about clicks get no answer, until `resumeHitWorker`. Clicks are recorded. */
  pauseHitWorker(): void
  resumeHitWorker(): void
  /** Ends the hit worker: questions are answered with 503 until the server has started another one, a moment later. */
  failHitWorker(): void
  close(): Promise<void>
}

export interface TestServerOptions extends Omit<ServiceOptions, 'startWorker'> {
  environment?: Record<string, string>
  /** Where the hits are counted. By default here, which spares half a second of processor time. */
  hitWorker?: 'here' | 'as a process'
}

export async function startServer(
  engine: DatabaseEngine,
  { environment, hitWorker = 'here', ...options }: TestServerOptions = {},
): Promise<TestServer> {
  const dataDir = mkdtempSync(join(tmpdir(), 'towpath-test-'))
  const database = engine === 'postgres' ? await migratedDatabase() : undefined
  if (!database) await writeMigratedFile(dataDir)
  const port = Number(environment?.PORT ?? findFreePort())
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
    // Destinations of tests are made up.
    FAVICONS: 'off',
    // Open sign-up needs a mail server.
    ...(environment?.SIGNUP === 'open' && DEAD_MAIL_SERVER),
    ...environment,
  })
  let aheadMs = 0
  const readClock = options.now ?? Date.now
  const now = () => readClock() + aheadMs
  const worker = createWorkerHere()
  const startWorker = hitWorker === 'here' ? worker.start : undefined
  // Tests of slow readers have them as processes.
  const reading = options.reading ?? { startReader: startReaderHere }
  const services = await openServices(config, { ...options, now, startWorker, reading })
  const mounted = createApp(services)
  const later = await services.openLater()
  const app = { ...services, ...later, close: services.close, ...mounted, routes: await mounted.loadRoutes() }
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

  const { db } = app
  // Kysely's types know no table that is chosen at run time.
  const having = <Query>(query: Query, values: object): Query =>
    Object.entries(values).reduce(
      (found, [column, value]) => found.where(column as 'id', value === null ? 'is' : '=', value),
      query as ReturnType<typeof db.read.selectFrom<'links'>>,
    ) as Query
  const rows: TestServer['rows'] = async (table, values = {}) => {
    const found = await having(db.read.selectFrom(table as 'links').selectAll(), values).execute()
    return found.toSorted((a, b) => a.id - b.id) as never
  }

  return {
    engine,
    origin,
    app,
    dataDir,
    databaseUrl: database?.url,
    call,
    ...toVerbs(call),
    click: (slug, headers = {}) =>
      call(`/${slug}`, { headers: { 'User-Agent': BROWSER_USER_AGENT, ...headers } }),
    submit: (formKey, fields, headers = {}) =>
      call(`/f/${formKey}`, {
        method: 'POST',
        body: fields,
        headers: { Accept: 'application/json', 'User-Agent': BROWSER_USER_AGENT, ...headers },
      }),
    rows,
    async row(table, values) {
      const [row, ...others] = await rows(table, values)
      if (!row || others.length > 0) throw new Error(`${table} has ${row ? 'several' : 'no'} such rows`)
      return row
    },
    insert: (table, values) =>
      db.write((connection) =>
        connection
          .insertInto(table)
          .values(values as never)
          .execute(),
      ),
    update: (table, values, changes) =>
      db.write((connection) =>
        having(connection.updateTable(table as 'links').set(changes as never), values).execute(),
      ),
    now,
    advanceClock(ms) {
      aheadMs += ms
    },
    async createWorkspace(plan = 'enterprise') {
      const needs = { db: app.db, now }
      const { id, publicId } = await createWorkspace(needs, { name: 'Test', plan })
      const { key } = await createKey(needs, id, 'test')
      const api: TestWorkspace['api'] = (path, { headers, ...rest } = {}) =>
        call(`/v1${path}`, { ...rest, headers: { Authorization: `Bearer ${key}`, ...headers } })
      async function create(path: string, body: object) {
        const { status, text, json } = await api(path, { method: 'POST', body })
        if (status !== 201) throw new Error(`POST ${path} answered ${status} ${text}`)
        return json.data
      }
      return {
        id,
        publicId,
        key,
        api,
        ...toVerbs(api),
        createLink: (fields = {}) => create('/links', { destinationUrl: 'https://example.com/', ...fields }),
        createForm: (settings = {}) => create('/forms', { name: 'Contact', ...settings }),
      }
    },
    waitUntilShipped: () => app.hitWorker.drain(),
    pauseHitWorker: worker.pause,
    resumeHitWorker: worker.resume,
    failHitWorker: worker.fail,
    async close() {
      worker.resume()
      await server.stop(true)
      await app.close()
      await database?.drop()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

type ServerTests = (server: () => TestServer, engine: DatabaseEngine) => void

/**
 * Runs the tests on SQLite, and in the full suite on PostgreSQL too. `onBothEngines.quick` runs them on both in every
 * suite, for tests that depend on the database: different SQL, locks and isolation.
 */
export const onBothEngines = Object.assign(
  (name: string, tests: ServerTests, options?: TestServerOptions) => onEngines(ENGINES, name, tests, options),
  {
    quick: (name: string, tests: ServerTests, options?: TestServerOptions) =>
      onEngines(BOTH_ENGINES, name, tests, options),
  },
)

/** Runs the tests on SQLite only: for behavior that does not depend on the database, such as parsing requests. */
export function onSqlite(name: string, tests: ServerTests, options?: TestServerOptions) {
  onEngine('sqlite', name, tests, options)
}

function onEngines(engines: DatabaseEngine[], name: string, tests: ServerTests, options?: TestServerOptions) {
  for (const engine of engines) onEngine(engine, name, tests, options)
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
