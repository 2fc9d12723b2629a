// Runs a server as an operator does: as a process on a data directory that outlives it. A test may kill it.

import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createKey } from '../../server/features/accounts/access/keys.ts'
import { createWorkspace } from '../../server/features/accounts/workspaces/create-workspace.ts'
import { openDatabase } from '../../server/storage/database/open-database.ts'
import { nextSenderAddress, URLENCODED_TYPE } from '../support/form-requests.ts'
import { findFreePort } from '../support/processes/free-port.ts'
import { createProcessGuard } from '../support/processes/process-guard.ts'
import type { HttpAnswer } from '../support/server/http-call.ts'
import { BROWSER_USER_AGENT } from '../support/world.ts'

const ROOT = join(import.meta.dir, '../..')

export interface ServerProcess extends ServerClient {
  pid: number
  /** Sends SIGKILL and waits for the end of the process. */
  kill(): Promise<void>
  /** Sends SIGTERM. @returns the exit code */
  stop(): Promise<number>
  /** The text of stdout and stderr so far. */
  readOutput(): string
}

/** Requests of programs, visitors and forms to a server, or to a balancer before several. */
export interface ServerClient {
  origin: string
  /** Calls `/v1` + path with a key: POST when there is a body. Rejects when the process has ended. */
  api(key: string, path: string, body?: unknown): Promise<HttpAnswer>
  /** Opens a short link as a browser does, without following it. */
  click(path: string, headers?: Record<string, string>): Promise<HttpAnswer>
  /** Posts to a form as a `<form>` without JavaScript does, from an address that no test has sent from. */
  submit(form: string, body: string, headers: Record<string, string>): Promise<HttpAnswer>
}

export interface Installation {
  dataDir: string
  databaseUrl: string | undefined
  /** API keys, each of another workspace. Each key may send 300 requests a minute. */
  keys: string[]
  start(options?: ServerProcessOptions): Promise<ServerProcess>
  /** Ends the server and removes the directory. This also happens when the test run is killed. */
  end(): Promise<void>
}

export interface ServerProcessOptions {
  /** The command that starts the server, such as strace with its arguments. */
  commandPrefix?: string[]
  /** Any free one by default. */
  port?: number
  /** Arguments for Bun, before the server's file. */
  bunArguments?: string[]
  environment?: Record<string, string>
}

/** Creates a data directory whose database has some workspaces, each with an API key. */
export async function createInstallation(workspaces: number, databaseUrl?: string): Promise<Installation> {
  const dataDir = mkdtempSync(join(tmpdir(), 'towpath-fault-'))
  return adoptInstallation(dataDir, await createKeys({ dataDir, databaseUrl }, workspaces), databaseUrl)
}

/** Takes over a data directory that exists already. `end` removes it. */
export function adoptInstallation(dataDir: string, keys: string[], databaseUrl?: string): Installation {
  const guard = createProcessGuard(dataDir)
  let server: ServerProcess | undefined
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

/** Creates workspaces with API keys, with the functions that the command line uses. */
export async function createKeys(
  location: { dataDir: string; databaseUrl?: string },
  count: number,
): Promise<string[]> {
  const db = await openDatabase(location)
  const needs = { db, now: Date.now }
  const keys = Array.from({ length: count }, async (_, i) => {
    const { id } = await createWorkspace(needs, { name: `Workspace ${i}`, plan: 'enterprise' })
    return (await createKey(needs, id, 'test')).key
  })
  try {
    return await Promise.all(keys)
  } finally {
    await db.close()
  }
}

async function startProcess(
  dataDir: string,
  databaseUrl: string | undefined,
  { commandPrefix = [], bunArguments = [], environment = {}, port = findFreePort() }: ServerProcessOptions,
): Promise<ServerProcess> {
  const child = Bun.spawn(
    [...commandPrefix, process.execPath, ...bunArguments, join(ROOT, 'server/main.ts')],
    {
      cwd: ROOT,
      env: {
        PATH: process.env.PATH,
        PORT: String(port),
        HOST: '127.0.0.1',
        DATA_DIR: dataDir,
        LOG_LEVEL: 'warn',
        // A test machine may have little room, and tests fill small disks to their last byte.
        DISK_RESERVE_MB: '0',
        ...(databaseUrl ? { DATABASE_URL: databaseUrl } : {}),
        ...environment,
      },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    },
  )
  const output: string[] = []
  const started = Promise.withResolvers<void>()
  const readStream = async (stream: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder()
    for await (const chunk of stream) {
      output.push(decoder.decode(chunk, { stream: true }))
      if (output.join('').includes('Towpath is ready')) started.resolve()
    }
  }
  const ended = Promise.all([readStream(child.stdout), readStream(child.stderr), child.exited])
  void ended.then(() =>
    started.reject(new Error(`The server ended with ${child.exitCode}:\n${output.join('')}`)),
  )
  await started.promise

  return {
    ...createClient(`http://127.0.0.1:${port}`),
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
    readOutput: () => output.join(''),
  }
}

export function createClient(origin: string): ServerClient {
  async function call(path: string, init: RequestInit): Promise<HttpAnswer> {
    const response = await fetch(origin + path, { redirect: 'manual', ...init })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.includes('json')
    const { status, headers } = response
    return { status, headers, text, json: isJson ? JSON.parse(text) : undefined }
  }
  return {
    origin,
    api(key, path, body) {
      const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
      const post = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
      return call(`/v1${path}`, { headers, ...post })
    },
    click: (path, headers) => call(`/${path}`, { headers: { 'User-Agent': BROWSER_USER_AGENT, ...headers } }),
    submit(form, body, headers) {
      const own = {
        'Content-Type': URLENCODED_TYPE,
        'User-Agent': BROWSER_USER_AGENT,
        'X-Forwarded-For': nextSenderAddress(),
      }
      return call(`/f/${form}`, { method: 'POST', body, headers: { ...own, ...headers } })
    },
  }
}
