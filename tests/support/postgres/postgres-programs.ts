// Finds or installs PostgreSQL's programs, and finds the user to run them as: they refuse to run as root.

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { canInstallPackages, installPackage } from '../processes/debian-package.ts'

const DEBIAN_VERSIONS = '/usr/lib/postgresql'
const CREATE_CLUSTER = '/etc/postgresql-common/createcluster.conf'

/**
 * Installs the Debian package if needed.
 * @returns the directory of `initdb` and `postgres`
 * @throws when PostgreSQL is missing and cannot be installed
 */
export function getPostgresPrograms(): string {
  // run.ts has tried already, and goes on without.
  const isTried = process.env.TEST_WITHOUT_POSTGRES === 'yes'
  if (!findPostgres() && !isTried && canInstallPackages()) installPostgresPackage()
  const programs = findPostgres()
  if (programs) return programs
  throw new Error(
    'These tests need PostgreSQL: install it, or set TEST_DATABASE_URL to a server that they may use.',
  )
}

/** @returns the directory of `initdb` and `postgres` */
export function findPostgres(): string | undefined {
  const onPath = Bun.which('initdb')
  if (onPath && existsSync(join(dirname(onPath), 'postgres'))) return dirname(onPath)
  if (!existsSync(DEBIAN_VERSIONS)) return undefined
  return readdirSync(DEBIAN_VERSIONS)
    .sort((a, b) => Number(b) - Number(a))
    .map((version) => join(DEBIAN_VERSIONS, version, 'bin'))
    .find((bin) => existsSync(join(bin, 'initdb')) && existsSync(join(bin, 'postgres')))
}

function installPostgresPackage() {
  // The package's install script starts a server on port 5432 unless this file forbids it.
  if (!existsSync(CREATE_CLUSTER)) {
    mkdirSync(dirname(CREATE_CLUSTER), { recursive: true })
    writeFileSync(CREATE_CLUSTER, 'create_main_cluster = false\n')
  }
  installPackage('postgresql', 'set TEST_DATABASE_URL to a server that the tests may use.')
}

/** @returns the user to run PostgreSQL as; undefined when the tests do not run as root */
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
