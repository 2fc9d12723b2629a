// A server as an operator runs it: a process of its own on a directory that outlives it, to be killed at will.

import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createKey } from '../../server/features/accounts/keys.ts'
import { createWorkspace } from '../../server/features/accounts/workspaces.ts'
import { openRows } from '../../server/storage/rows/open.ts'
import { FORM, newAddress } from '../support/forms.ts'
import { freePort } from '../support/free-port.ts'
import { makeGuard } from '../support/guard.ts'
import { BROWSER } from '../support/server.ts'

const ROOT = join(import.meta.dir, '../..')

export interface Answered {
  status: number
  headers: Headers
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  json: any
}

export interface RealServer {
  origin: string
  pid: number
  /** SIGKILL, and the end of the process. */
  kill(): Promise<void>
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number>
  /** Both outputs so far. */
  said(): string
  /** `/v1` + path with a key. Rejects when the process is gone. */
  api(key: string, path: string, body?: unknown): Promise<Answered>
  /** Opens a short link as a browser does, without following it. */
  click(path: string): Promise<Answered>
  /** Sends text to a form as a page's own `<form>` does, from an address that nobody has sent from. */
  submit(form: string, body: string, headers: Record<string, string>): Promise<Answered>
}

export interface House {
  dataDir: string
  databaseUrl: string | undefined
  /** API keys, each of a workspace of its own: every one may ask 300 times a minute. */
  keys: string[]
  start(options?: StartOptions): Promise<RealServer>
  /** Ends what runs and removes the directory; happens by itself when the test run is killed. */
  end(): Promise<void>
}

export interface StartOptions {
  /** What the server is started through, such as strace with its arguments. */
  through?: string[]
  /** Arguments for Bun before the server's file. */
  bun?: string[]
  environment?: Record<string, string>
}

/** A directory with some workspaces in its store. */
export async function makeHouse(workspaces: number, databaseUrl?: string): Promise<House> {
  const dataDir = mkdtempSync(join(tmpdir(), 'towpath-fault-'))
  const guard = makeGuard(dataDir)
  const keys = await makeKeys({ dataDir, databaseUrl }, workspaces)
  let server: RealServer | undefined
  return {
    dataDir,
    databaseUrl,
    keys,
    async start(options = {}) {
      server = await startProcess(dataDir, databaseUrl, options)
      guard.watch(server.pid)
      return server
    },
    async end() {
      await server?.kill()
      guard.watch(undefined)
      await guard.end()
    },
  }
}

/** What the command line does, with the same verbs, while a server runs or not. */
async function makeKeys(place: { dataDir: string; databaseUrl?: string }, count: number): Promise<string[]> {
  const rows = await openRows(place)
  const needs = { rows, now: Date.now }
  const keys = Array.from({ length: count }, async (_, i) => {
    const { id } = await createWorkspace(needs, { name: `Workspace ${i}`, plan: 'enterprise' })
    return (await createKey(needs, id, 'test')).key
  })
  try {
    return await Promise.all(keys)
  } finally {
    await rows.close()
  }
}

async function startProcess(
  dataDir: string,
  databaseUrl: string | undefined,
  { through = [], bun = [], environment = {} }: StartOptions,
): Promise<RealServer> {
  const port = freePort()
  const child = Bun.spawn([...through, process.execPath, ...bun, join(ROOT, 'server/main.ts')], {
    cwd: ROOT,
    env: {
      PATH: process.env.PATH,
      PORT: String(port),
      HOST: '127.0.0.1',
      DATA_DIR: dataDir,
      LOG_LEVEL: 'warn',
      ...(databaseUrl ? { DATABASE_URL: databaseUrl } : {}),
      ...environment,
    },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const said: string[] = []
  const up = Promise.withResolvers<void>()
  const listen = async (stream: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder()
    for await (const chunk of stream) {
      said.push(decoder.decode(chunk, { stream: true }))
      if (said.join('').includes('Towpath listens on')) up.resolve()
    }
  }
  const ended = Promise.all([listen(child.stdout), listen(child.stderr), child.exited])
  void ended.then(() => up.reject(new Error(`The server ended with ${child.exitCode}:\n${said.join('')}`)))
  await up.promise

  const origin = `http://127.0.0.1:${port}`
  async function call(path: string, init: RequestInit): Promise<Answered> {
    const response = await fetch(origin + path, { redirect: 'manual', ...init })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.includes('json')
    const { status, headers } = response
    return { status, headers, text, json: isJson ? JSON.parse(text) : undefined }
  }
  return {
    origin,
    pid: child.pid,
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
    async stop() {
      child.kill('SIGTERM')
      await ended
      return child.exitCode ?? -1
    },
    said: () => said.join(''),
    api(key, path, body) {
      const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
      const post = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
      return call(`/v1${path}`, { headers, ...post })
    },
    click: (path) => call(`/${path}`, { headers: { 'User-Agent': BROWSER } }),
    submit(form, body, headers) {
      const own = { 'Content-Type': FORM, 'User-Agent': BROWSER, 'X-Forwarded-For': newAddress() }
      return call(`/f/${form}`, { method: 'POST', body, headers: { ...own, ...headers } })
    },
  }
}

/** Between two numbers of milliseconds: a kill at a fixed moment would always meet the same code. */
export const randomMs = (from: number, to: number) => from + Math.random() * (to - from)
