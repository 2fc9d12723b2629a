// Starts the servers of a benchmark, the product and what it is compared with, each as a process of its own on one core.

import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DatabaseHandle, openDatabase } from '../server/storage/database/open-database.ts'

export interface Contender {
  name: string
  port: number
  pid: number
  end(): Promise<void>
}

const home = mkdtempSync(join(tmpdir(), 'towpath-bench-'))
process.on('exit', () => rmSync(home, { recursive: true, force: true }))

const root = join(import.meta.dir, '..')
const bun = process.execPath

/** The server has core 0, and the load generator core 1. Without taskset (not on Linux), no process is pinned. */
export const pinToCore = (core: number, command: string[]) =>
  Bun.which('taskset') ? ['taskset', '-c', String(core), ...command] : command

/**
 * Before everybody else on this machine, where that is allowed: as root. For measurements of milliseconds beside other
 * work.
 */
export const withPriority = (command: string[]) =>
  process.getuid?.() === 0 && Bun.which('nice') ? ['nice', '-n', '-15', ...command] : command

interface LaunchOptions {
  env?: Record<string, string>
  /** null: any core. */
  core?: number | null
  cwd?: string
  /** Before other processes of the machine. */
  first?: boolean
}

async function launch(
  name: string,
  port: number,
  command: string[],
  { env = {}, core = 0, cwd = root, first = false }: LaunchOptions = {},
): Promise<Contender> {
  const prioritised = first ? withPriority(command) : command
  const child = Bun.spawn(core === null ? prioritised : pinToCore(core, prioritised), {
    cwd,
    env: { ...process.env, ...env },
    stdout: 'ignore',
    stderr: 'inherit',
  })
  const deadline = Date.now() + 20_000
  while (!(await isAnswering(port))) {
    if (Date.now() > deadline || child.exitCode !== null) throw new Error(`${name} did not start`)
    await Bun.sleep(20)
  }
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

const isAnswering = (port: number) =>
  fetch(`http://127.0.0.1:${port}/bench1`, { redirect: 'manual' }).then(
    () => true,
    () => false,
  )

export function freePort(): number {
  const probe = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
  const { port } = probe
  void probe.stop(true)
  if (!port) throw new Error('no free port')
  return port
}

/** The product as an operator starts it, with `links` links. */
export async function startSeededTowpath(links: number): Promise<Contender> {
  const db = await openDatabase({ dataDir: TOWPATH_DIR })
  await seedLinks(db, links)
  await db.close()
  return startTowpath()
}

export const TOWPATH_DIR = join(home, 'towpath')

/**
 * Starts the product on its data directory as it is.
 * @param options.checkout the version to start: this checkout, or another one
 * @param options.first whether it comes before other processes of the machine
 */
export function startTowpath(
  environment: Record<string, string> = {},
  { name = 'towpath', checkout = root, first = false, core = 0 as number | null } = {},
): Promise<Contender> {
  const port = freePort()
  const env = { PORT: String(port), HOST: '127.0.0.1', DATA_DIR: TOWPATH_DIR, LOG_LEVEL: 'error' }
  return launch(name, port, [bun, 'server/main.ts'], {
    env: { ...env, ...environment },
    cwd: checkout,
    core,
    first,
  })
}

/** The baseline of bench/uploads.ts, on the disk of the product's data directory. */
export function startUploadWriter(): Promise<Contender> {
  const port = freePort()
  const dir = join(home, 'writer')
  mkdirSync(dir)
  return launch('writer', port, [bun, 'bench/uploads-writer.ts', String(port), dir], { first: true })
}

/** @param domain '' is the default domain @returns the id of their workspace */
export function seedLinks(db: DatabaseHandle, links: number, domain = ''): Promise<number> {
  const at = Date.now()
  return db.write(async (connection) => {
    const workspace = {
      public_id: `bench${domain}`,
      name: 'bench',
      plan: 'enterprise',
      created_at: at,
      updated_at: at,
    }
    const { id } = await connection
      .insertInto('workspaces')
      .values(workspace)
      .returning('id')
      .executeTakeFirstOrThrow()
    for (let from = 1; from <= links; from += 1000) {
      const chunk = Array.from({ length: Math.min(1000, links - from + 1) }, (_, i) => from + i)
      await connection
        .insertInto('links')
        .values(
          chunk.map((n) => ({
            workspace_id: id,
            domain,
            slug: `bench${n}`,
            slug_key: `bench${n}`,
            destination_url: `https://example.com/landing/${n}?ref=${n}`,
            geo_targeting: '{}',
            device_targeting: '{}',
            search_text: `bench${n}`,
            archived: 0,
            clicks_used: 0,
            forward_query: 0,
            track_conversions: 0,
            redirect_status: 302,
            clicks: 0,
            leads: 0,
            created_at: at,
            updated_at: at,
          })),
        )
        .execute()
    }
    return id
  })
}

/** Bun's own server answering a constant redirect: no look-up, no recording. */
export async function startBareBun(): Promise<Contender> {
  const script = join(home, 'bare.ts')
  const port = freePort()
  writeFileSync(
    script,
    `Bun.serve({ port: ${port}, hostname: '127.0.0.1', fetch: () =>
      new Response(null, { status: 302, headers: { Location: 'https://example.com/landing' } }) })`,
  )
  return launch('bare Bun.serve', port, [bun, script])
}

/** nginx, one worker, a constant redirect; undefined where nginx is not installed. */
export async function startNginx(): Promise<Contender | undefined> {
  if (!findNginx()) return undefined
  const port = freePort()
  const server = `server { listen 127.0.0.1:${port}; return 302 https://example.com/landing; }`
  return launchNginx('nginx return 302', port, server)
}

const findNginx = () => [Bun.which('nginx'), '/usr/sbin/nginx'].find((path) => path && existsSync(path))

/**
 * nginx, one worker, with these `server` and `upstream` blocks.
 * @param port one of those it listens on
 * @throws where nginx is not installed
 */
export function launchNginx(name: string, port: number, blocks: string, core = 0): Promise<Contender> {
  const program = findNginx()
  if (!program) throw new Error('nginx is missing. On Debian: apt-get install nginx')
  const dir = join(home, name.replaceAll(' ', '-'))
  mkdirSync(dir, { recursive: true })
  writeFileSync(
    join(dir, 'nginx.conf'),
    `daemon off; worker_processes 1; pid ${dir}/pid; error_log ${dir}/error.log;
     events { worker_connections 1024; }
     http { access_log off; client_body_temp_path ${dir}; proxy_temp_path ${dir}; fastcgi_temp_path ${dir};
       uwsgi_temp_path ${dir}; scgi_temp_path ${dir}; keepalive_requests 1000000000;
       ${blocks} }`,
  )
  return launch(name, port, [program, '-p', dir, '-c', join(dir, 'nginx.conf')], { core })
}
