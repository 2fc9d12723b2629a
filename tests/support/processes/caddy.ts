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
  const origin = `http://127.0.0.1:${findFreePort()}`
  const { end } = await runCaddy(() => `{\n\tadmin off\n}\n${snippets}\n${origin} {\n${site}\n}\n`, origin)
  return { origin, end }
}

export interface TlsCaddy {
  httpPort: number
  tlsPort: number
  /** The certificate of the authority that signs all others, in place of a public one. */
  authority: string
  end(): Promise<void>
}

/**
 * Starts Caddy with a Caddyfile of `deploy/`, whose first block has its options. Ports, certificates and directories are
 * the test's.
 */
export async function startTlsCaddy(
  caddyfile: string,
  environment: Record<string, string> = {},
): Promise<TlsCaddy> {
  const [httpPort, tlsPort] = [findFreePort(), findFreePort()]
  const writeConfig = (dir: string) => {
    const ports = `http_port ${httpPort}\n\thttps_port ${tlsPort}\n\tdefault_bind 127.0.0.1`
    const options = `admin off\n\tlocal_certs\n\tskip_install_trust\n\tstorage file_system ${dir}/storage\n\t${ports}`
    const config = caddyfile.replace(/^\{\n/m, `{\n\t${options}\n`)
    if (config === caddyfile) throw new Error('The Caddyfile has no options')
    return config
  }
  const { dir, end } = await runCaddy(writeConfig, `http://127.0.0.1:${httpPort}`, environment)
  return { httpPort, tlsPort, authority: join(dir, 'storage/pki/authorities/local/root.crt'), end }
}

/** @param writeConfig gives the Caddyfile for Caddy in `dir`. @param origin what answers when it is up */
async function runCaddy(
  writeConfig: (dir: string) => string,
  origin: string,
  environment: Record<string, string> = {},
) {
  const program = getCaddy()
  const dir = mkdtempSync(join(tmpdir(), 'towpath-caddy-'))
  const guard = createProcessGuard(dir)
  const config = join(dir, 'Caddyfile')
  writeFileSync(config, writeConfig(dir))
  const child = Bun.spawn([program, 'run', '--config', config, '--adapter', 'caddyfile'], {
    env: { PATH: process.env.PATH, HOME: dir, ...environment },
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
    dir,
    async end() {
      child.kill('SIGTERM')
      await child.exited
      guard.watch(undefined)
      await guard.end()
    },
  }
}
