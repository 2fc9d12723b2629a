// Runs a real nginx in front of a server.

import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '../until.ts'
import { canInstallPackages, installPackage } from './debian-package.ts'
import { findFreePort } from './free-port.ts'
import { createProcessGuard } from './process-guard.ts'

export interface Nginx {
  port: number
  /** The directory of its files: `access.log` is there. */
  dir: string
  /** Ends it when it has answered. Its files stay. */
  stop(): Promise<void>
  end(): Promise<void>
}

const findNginx = () => Bun.which('nginx', { PATH: `${process.env.PATH}:/usr/sbin:/usr/local/sbin` })

/** @throws a sentence when there is no nginx, and none can be installed */
export function getNginx(): string {
  if (!findNginx() && canInstallPackages()) installPackage('nginx-light', 'install nginx.')
  const program = findNginx()
  if (!program) throw new Error('These tests need nginx: install it.')
  return program
}

/**
 * Starts nginx as a proxy whose connections to the server are shared by all clients.
 * @param logFormat what `access.log` says of each request
 * @throws when nginx is missing and cannot be installed
 */
export const startNginx = (upstreamPort: number, logFormat: string) =>
  startNginxWith((dir, port) => createConfig(dir, port, upstreamPort, logFormat))

/**
 * @param writeConfig gives the whole configuration, for nginx in `dir` that answers http on `port` of 127.0.0.1
 * @throws when nginx refuses the configuration, is missing, or cannot be installed
 */
export async function startNginxWith(writeConfig: (dir: string, port: number) => string): Promise<Nginx> {
  const program = getNginx()
  const dir = mkdtempSync(join(tmpdir(), 'towpath-nginx-'))
  const guard = createProcessGuard(dir)
  const port = findFreePort()
  mkdirSync(join(dir, 'temp'))
  writeFileSync(join(dir, 'nginx.conf'), writeConfig(dir, port))
  const tried = Bun.spawnSync([program, '-t', '-q', '-p', dir, '-c', join(dir, 'nginx.conf'), '-e', 'stderr'])
  if (!tried.success) throw new Error(`nginx refuses its configuration: ${tried.stderr}`)
  const child = Bun.spawn([program, '-p', dir, '-c', join(dir, 'nginx.conf'), '-e', join(dir, 'error.log')], {
    stdout: 'ignore',
    stderr: 'inherit',
  })
  guard.watch(child.pid)
  await until('nginx', () =>
    fetch(`http://127.0.0.1:${port}/`, { redirect: 'manual' }).then(
      () => true,
      () => child.exitCode !== null,
    ),
  )
  const stop = async () => {
    child.kill('SIGQUIT')
    await child.exited
  }
  return {
    port,
    dir,
    stop,
    async end() {
      await stop()
      guard.watch(undefined)
      await guard.end()
    },
  }
}

const TEMP_PATHS = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']

/** A configuration for nginx in `dir`, run as the user of the tests, around the content of its `http` block. */
export const wrapNginxConfig = (dir: string, content: string) => `
  daemon off;
  master_process off;
  pid ${dir}/pid;
  error_log ${dir}/error.log;
  events { worker_connections 256; }
  http {
    ${TEMP_PATHS.map((name) => `${name}_temp_path ${dir}/temp;`).join(' ')}
    ${content}
  }`

/** One worker, and one connection to the server that everybody shares: what an attacker leaves on it is the next one's. */
const createConfig = (dir: string, port: number, upstreamPort: number, logFormat: string) =>
  wrapNginxConfig(
    dir,
    `log_format test '${logFormat}';
    access_log ${dir}/access.log test;
    upstream towpath { server 127.0.0.1:${upstreamPort}; keepalive 1; }
    server {
      listen 127.0.0.1:${port};
      location / {
        proxy_pass http://towpath;
        proxy_http_version 1.1;
        proxy_set_header Connection "";
        proxy_request_buffering off;
        proxy_next_upstream off;
      }
    }`,
  )
