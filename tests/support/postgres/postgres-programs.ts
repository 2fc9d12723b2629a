// Where PostgreSQL's programs are on this machine, and as whom they run: they refuse to be root.

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { canInstallPackages, installPackage } from '../processes/debian-package.ts'

const DEBIAN_VERSIONS = '/usr/lib/postgresql'
const CREATE_CLUSTER = '/etc/postgresql-common/createcluster.conf'

/** Why the package could not be installed; tried once, and told by every test that needs it. */
let installError: unknown

/** Called before the first test as well: an installation takes longer than a test may. */
export function installPostgresIfMissing(): void {
  if (process.env.TEST_DATABASE_URL || installError || findPrograms()) return
  if (!canInstallPackages()) return
  try {
    installPostgresPackage()
  } catch (error) {
    installError = error
  }
}

/** @returns the directory that holds `initdb` and `postgres`; installs Debian's package where that is possible. */
export function getPostgresPrograms(): string {
  installPostgresIfMissing()
  const found = findPrograms()
  if (found) return found
  throw (
    installError ??
    new Error(
      'These tests need PostgreSQL: install it, or set TEST_DATABASE_URL to a server that they may use.',
    )
  )
}

function findPrograms(): string | undefined {
  const onPath = Bun.which('initdb')
  if (onPath && existsSync(join(dirname(onPath), 'postgres'))) return dirname(onPath)
  if (!existsSync(DEBIAN_VERSIONS)) return undefined
  return readdirSync(DEBIAN_VERSIONS)
    .sort((a, b) => Number(b) - Number(a))
    .map((version) => join(DEBIAN_VERSIONS, version, 'bin'))
    .find((bin) => existsSync(join(bin, 'initdb')) && existsSync(join(bin, 'postgres')))
}

function installPostgresPackage() {
  // The package starts a server of its own on port 5432 unless this file, read by its install script, says no.
  if (!existsSync(CREATE_CLUSTER)) {
    mkdirSync(dirname(CREATE_CLUSTER), { recursive: true })
    writeFileSync(CREATE_CLUSTER, 'create_main_cluster = false\n')
  }
  installPackage('postgresql', 'set TEST_DATABASE_URL to a server that the tests may use.')
}

/** Whom to become; nothing when we are an ordinary user already. */
export function findPostgresUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const accounts = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
  for (const name of ['postgres', 'nobody']) {
    const account = accounts.find((fields) => fields[0] === name)
    if (account) return { uid: Number(account[2]), gid: Number(account[3]) }
  }
  throw new Error(
    'PostgreSQL refuses to run as root and there is no user postgres or nobody: set TEST_DATABASE_URL instead.',
  )
}
