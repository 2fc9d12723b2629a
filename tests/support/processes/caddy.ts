// Finds or installs Caddy, and starts it as a balancer.

import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '../until.ts'
import { canInstallPackages, installPackage } from './debian-package.ts'
import { findFreePort } from './free-port.ts'
import { createProcessGuard } from './process-guard.ts'

/** @throws a sentence when there is no Caddy, and none can be installed */
export function getCaddy(): string {
  if (!Bun.which('caddy') && canInstallPackages()) installPackage('caddy', 'install Caddy.')
  const program = Bun.which('caddy')
  if (!program) throw new Error('This test needs Caddy: install it.')
  return program
}

/** Starts Caddy without TLS. @param site the directives of its only site. @param snippets what the site imports */
export async function startCaddy(
  site: string,
  snippets = '',
): Promise<{ origin: string; end(): Promise<void> }> {
  const program = getCaddy()
  const dir = mkdtempSync(join(tmpdir(), 'towpath-caddy-'))
  const guard = createProcessGuard(dir)
  const origin = `http://127.0.0.1:${findFreePort()}`
  const config = join(dir, 'Caddyfile')
  writeFileSync(config, `{\n\tadmin off\n}\n${snippets}\n${origin} {\n${site}\n}\n`)
  const child = Bun.spawn([program, 'run', '--config', config, '--adapter', 'caddyfile'], {
    env: { PATH: process.env.PATH, HOME: dir },
    stdout: 'ignore',
    stderr: Bun.file(join(dir, 'log')),
  })
  guard.watch(child.pid)
  await until('Caddy', () =>
    fetch(origin, { redirect: 'manual' }).then(
      () => true,
      () => child.exitCode !== null,
    ),
  )
  if (child.exitCode !== null) throw new Error(`Caddy ended: ${await Bun.file(join(dir, 'log')).text()}`)
  return {
    origin,
    async end() {
      child.kill('SIGTERM')
      await child.exited
      guard.watch(undefined)
      await guard.end()
    },
  }
}
