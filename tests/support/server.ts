// A whole Towpath for a test file: real stores in a directory of its own, a real socket, spoken to over HTTP.

import { afterAll, beforeAll, describe } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type App, type AppOptions, openApp } from '../../server/app.ts'
import { readConfig } from '../../server/config.ts'
import { createKey } from '../../server/features/accounts/keys.ts'
import { createWorkspace } from '../../server/features/accounts/workspaces.ts'
import type { Plan } from '../../server/lib/plan.ts'
import { listen } from '../../server/listen.ts'
import type { Engine } from '../../server/storage/rows/open.ts'
import { freePort } from './free-port.ts'
import { freshDatabase } from './postgres.ts'

export const ENGINES: Engine[] = ['sqlite', 'postgres']

/** A person's browser: without it a click would be a robot's. */
export const BROWSER =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1'

export interface Answer {
  status: number
  headers: Headers
  text: string
  /** The parsed body, or undefined where it is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  json: any
}

export interface Call {
  method?: string
  /** Sent as JSON unless it is a string. */
  body?: unknown
  headers?: Record<string, string>
}

export interface TestWorkspace {
  id: number
  key: string
  /** Calls `/v1` + path with the workspace's key. */
  api(path: string, call?: Call): Promise<Answer>
  /** Makes a link and returns the resource. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  link(fields?: Record<string, unknown>): Promise<any>
}

export interface TestServer {
  engine: Engine
  origin: string
  app: App
  dataDir: string
  databaseUrl: string | undefined
  call(path: string, call?: Call): Promise<Answer>
  /** Opens a short link as a browser does, without following it. */
  click(slug: string, headers?: Record<string, string>): Promise<Answer>
  /** A workspace of its own, with a key; on the plan with the highest limit unless said otherwise. */
  workspace(plan?: Plan): Promise<TestWorkspace>
  /** Resolves when every click answered so far is in the analytics and on the links' counters. */
  shipped(): Promise<void>
  close(): Promise<void>
}

export interface TestServerOptions extends AppOptions {
  environment?: Record<string, string>
}

export async function startServer(engine: Engine, options: TestServerOptions = {}): Promise<TestServer> {
  const dataDir = mkdtempSync(join(tmpdir(), 'towpath-test-'))
  const database = engine === 'postgres' ? await freshDatabase() : undefined
  const port = freePort()
  const config = readConfig({
    PORT: String(port),
    HOST: '127.0.0.1',
    DATA_DIR: dataDir,
    DATABASE_URL: database?.url,
    LOG_LEVEL: 'silent',
    // `FAST_PATH=off` runs any test file without the fast path.
    FAST_PATH: process.env.FAST_PATH,
    ...options.environment,
  })
  const app = await openApp(config, options)
  const server = listen(config, app)
  const origin = `http://127.0.0.1:${port}`

  async function call(path: string, { method = 'GET', body, headers = {} }: Call = {}): Promise<Answer> {
    const json = body !== undefined && typeof body !== 'string'
    const response = await fetch(origin + path, {
      method,
      redirect: 'manual',
      headers: { ...(body === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers },
      body: json ? JSON.stringify(body) : (body as string | undefined),
    })
    return answerOf(response)
  }

  return {
    engine,
    origin,
    app,
    dataDir,
    databaseUrl: database?.url,
    call,
    click: (slug, headers = {}) => call(`/${slug}`, { headers: { 'User-Agent': BROWSER, ...headers } }),
    async workspace(plan = 'enterprise') {
      const needs = { rows: app.rows, now: Date.now }
      const { id } = await createWorkspace(needs, { name: 'Test', plan })
      const { key } = await createKey(needs, id, 'test')
      const api: TestWorkspace['api'] = (path, { headers, ...rest } = {}) =>
        call(`/v1${path}`, { ...rest, headers: { Authorization: `Bearer ${key}`, ...headers } })
      return {
        id,
        key,
        api,
        async link(fields = {}) {
          const { status, text, json } = await api('/links', {
            method: 'POST',
            body: { destinationUrl: 'https://example.com/', ...fields },
          })
          if (status !== 201) throw new Error(`the link was not made: ${status} ${text}`)
          return json.data
        },
      }
    },
    shipped: () => app.shipper.drain(),
    async close() {
      await server.stop(true)
      await app.close()
      await database?.drop()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text()
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    json = undefined
  }
  return { status: response.status, headers: response.headers, text, json }
}

/** The same tests on a server over SQLite and on one over PostgreSQL. */
export function onBothEngines(
  name: string,
  tests: (server: () => TestServer) => void,
  options?: TestServerOptions,
) {
  describe.each(ENGINES)(`${name} (%s)`, (engine) => {
    let server: TestServer
    beforeAll(async () => {
      server = await startServer(engine, options)
    }, 60_000)
    afterAll(() => server?.close())
    tests(() => server)
  })
}

/** Resolves as soon as `condition` is true (or returns something). @throws after `withinMs`, naming what was waited for */
export async function until<T>(
  what: string,
  condition: () => T | Promise<T>,
  withinMs = 10_000,
): Promise<NonNullable<T>> {
  const deadline = Date.now() + withinMs
  for (;;) {
    const value = await condition()
    if (value) return value as NonNullable<T>
    if (Date.now() > deadline) throw new Error(`waited ${withinMs} ms for: ${what}`)
    await Bun.sleep(10)
  }
}
