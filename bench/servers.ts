// Starts the servers of a benchmark, the product and what it is compared with, each as a process of its own on one core,
// and fills the product's data directory.

import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { createKey } from '../server/features/accounts/access/keys.ts'
import type { DatabaseHandle, openDatabase } from '../server/storage/database/open-database.ts'
import { findFreePort } from '../tests/support/processes/free-port.ts'

export interface Contender {
  name: string
  port: number
  pid: number
  end(): Promise<void>
}

/** A directory that ends with the benchmark. */
export const HOME = mkdtempSync(join(tmpdir(), 'towpath-bench-'))
process.on('exit', () => rmSync(HOME, { recursive: true, force: true }))

export const ROOT = join(import.meta.dir, '..')
const bun = process.execPath

/** The server has core 0, and the load generator core 1. Without taskset (not on Linux), no process is pinned. */
export const pinToCore = (core: number, command: string[]) =>
  Bun.which('taskset') ? ['taskset', '-c', String(core), ...command] : command

/** Before other processes of the machine, as root. For milliseconds that are measured beside other work. */
export const withPriority = (command: string[]) =>
  process.getuid?.() === 0 && Bun.which('nice') ? ['nice', '-n', '-15', ...command] : command

interface LaunchOptions {
  env?: Record<string, string>
  /** null: any core. */
  core?: number | null
  cwd?: string
  /** Whether it gets priority over other processes of the machine. */
  first?: boolean
}

export async function launch(
  name: string,
  port: number,
  command: string[],
  { env = {}, core = 0, cwd = ROOT, first = false }: LaunchOptions = {},
): Promise<Contender> {
  const prioritised = first ? withPriority(command) : command
  const child = Bun.spawn(core === null ? prioritised : pinToCore(core, prioritised), {
    cwd,
    env: { ...process.env, ...env },
    stdout: 'ignore',
    stderr: 'inherit',
  })
  const isAnswering = () =>
    fetch(`http://127.0.0.1:${port}/bench1`, { redirect: 'manual' }).then(
      () => true,
      () => false,
    )
  for (const deadline = Date.now() + 60_000; !(await isAnswering()); await Bun.sleep(5))
    if (Date.now() > deadline || child.exitCode !== null) throw new Error(`${name} did not start`)
  return {
    name,
    port,
    pid: child.pid,
    async end() {
      child.kill('SIGTERM')
      await child.exited
    },
  }
}

export const TOWPATH_DIR = join(HOME, 'towpath')

/** Starts the product as an operator does. @param options.checkout the version to start: this checkout, or another one */
export function startTowpath(
  environment: Record<string, string> = {},
  {
    name = 'towpath',
    checkout = ROOT,
    dataDir = TOWPATH_DIR,
    first = false,
    core = 0 as number | null,
    /** Options of the runtime. */
    runtime = [] as string[],
  } = {},
): Promise<Contender> {
  const port = findFreePort()
  const env = { PORT: String(port), HOST: '127.0.0.1', DATA_DIR: dataDir, LOG_LEVEL: 'error', ...environment }
  return launch(name, port, [bun, ...runtime, 'server/main.ts'], { env, cwd: checkout, core, first })
}

/** This checkout, and the one that the command names to compare with. */
export const listVersions = ([other]: string[]) => [
  { name: 'towpath', checkout: ROOT, dataDir: TOWPATH_DIR },
  ...(other
    ? [{ name: 'the other checkout', checkout: resolve(other), dataDir: `${TOWPATH_DIR}-other` }]
    : []),
]

export interface Workspace {
  workspaceId: number
  publicId: string
  /** Of the API. */
  key: string
}

interface SeedOptions {
  links?: number
  dataDir?: string
  databaseUrl?: string
  /** The version that makes the database: an earlier version refuses a database of a later one. */
  checkout?: string
}

/** Makes a workspace with links and a key. @param more stores what else the benchmark needs, such as further workspaces */
export async function seed(
  { links = 1000, dataDir = TOWPATH_DIR, databaseUrl, checkout = ROOT }: SeedOptions = {},
  more: (
    db: DatabaseHandle,
    seeded: Workspace,
    addWorkspace: () => Promise<Workspace>,
  ) => Promise<unknown> = async () => {},
): Promise<Workspace> {
  const database: { openDatabase: typeof openDatabase } = await import(
    join(checkout, 'server/storage/database/open-database.ts')
  )
  const keys: { createKey: typeof createKey } = await import(
    join(checkout, 'server/features/accounts/access/keys.ts')
  )
  const db = await database.openDatabase({ dataDir, databaseUrl })
  const addWorkspace = async (): Promise<Workspace> => {
    const [publicId, at] = [`bench${crypto.randomUUID().slice(0, 8)}`, Date.now()]
    const row = { public_id: publicId, name: 'bench', plan: 'enterprise', created_at: at, updated_at: at }
    const { id } = await db.write((connection) =>
      connection.insertInto('workspaces').values(row).returning('id').executeTakeFirstOrThrow(),
    )
    const { key } = await keys.createKey({ db, now: Date.now }, id, 'bench')
    return { workspaceId: id, publicId, key }
  }
  const seeded = await addWorkspace()
  await seedLinks(db, seeded.workspaceId, links)
  await more(db, seeded, addWorkspace)
  await db.close()
  return seeded
}

/** Links with the slugs bench1, bench2, … @param domain one of the workspace, or '' for the default domain */
export async function seedLinks(
  db: DatabaseHandle,
  workspaceId: number,
  links: number,
  domain = '',
  { prefix = 'bench', ...settings }: { prefix?: string; rules?: string; split?: string } = {},
) {
  const at = Date.now()
  const fixed = {
    ...{ workspace_id: workspaceId, domain, geo_targeting: '{}', device_targeting: '{}', archived: 0 },
    ...settings,
    ...{ clicks_used: 0, forward_query: 0, track_conversions: 0, redirect_status: 302, clicks: 0, leads: 0 },
  }
  const toRow = (n: number) => ({
    ...fixed,
    ...{ slug: `${prefix}${n}`, slug_key: `${prefix}${n}`, search_text: `${prefix}${n}` },
    destination_url: `https://example.com/landing/${n}?ref=${n}`,
    created_at: at + n,
    updated_at: at + n,
  })
  for (let from = 1; from <= links; from += 1000) {
    const rows = Array.from({ length: Math.min(1000, links - from + 1) }, (_, i) => toRow(from + i))
    await db.write((connection) => connection.insertInto('links').values(rows).execute())
  }
}

export async function seedDomain(db: DatabaseHandle, workspaceId: number, domain: string) {
  const at = Date.now()
  const verified = { token: 'bench', verified_at: at, is_primary: 1, case_sensitive: 0 }
  const row = { workspace_id: workspaceId, domain, ...verified, created_at: at, updated_at: at }
  await db.write((connection) => connection.insertInto('domains').values(row).execute())
}

/** Calls `/v1` + path: POST when there is a body. @returns `data` of the answer */
export async function callApi<Data>(
  { port }: Pick<Contender, 'port'>,
  key: string,
  path: string,
  body?: object,
  method = body ? 'POST' : 'GET',
): Promise<Data> {
  const headers: Record<string, string> = { Authorization: `Bearer ${key}` }
  const isForm = body instanceof FormData
  if (body && !isForm) headers['Content-Type'] = 'application/json'
  const init = { method, headers, body: isForm ? body : body && JSON.stringify(body) }
  const answer = await fetch(`http://127.0.0.1:${port}/v1${path}`, init)
  if (!answer.ok) throw new Error(`${path} was answered with ${answer.status}: ${await answer.text()}`)
  return ((await answer.json()) as { data: Data }).data
}

/** Bun's own server with a constant redirect: no look-up, no recording. */
export async function startBareBun(): Promise<Contender> {
  const script = join(HOME, 'bare.ts')
  const port = findFreePort()
  writeFileSync(
    script,
    `Bun.serve({ port: ${port}, hostname: '127.0.0.1', fetch: () =>
      new Response(null, { status: 302, headers: { Location: 'https://example.com/landing' } }) })`,
  )
  return launch('bare Bun.serve', port, [bun, script])
}

/** nginx, one worker, with a constant redirect; undefined where nginx is not installed. */
export async function startNginx(): Promise<Contender | undefined> {
  const program = [Bun.which('nginx'), '/usr/sbin/nginx'].find((path) => path && existsSync(path))
  if (!program) return undefined
  const [port, dir] = [findFreePort(), join(HOME, 'nginx')]
  mkdirSync(dir)
  writeFileSync(
    join(dir, 'nginx.conf'),
    `daemon off; master_process off; pid ${dir}/pid; error_log ${dir}/error.log;
     events { worker_connections 1024; }
     http { access_log off; client_body_temp_path ${dir}; proxy_temp_path ${dir}; fastcgi_temp_path ${dir};
       uwsgi_temp_path ${dir}; scgi_temp_path ${dir}; keepalive_requests 1000000000;
       server { listen 127.0.0.1:${port}; return 302 https://example.com/landing; } }`,
  )
  return launch('nginx return 302', port, [program, '-p', dir, '-c', join(dir, 'nginx.conf')])
}
