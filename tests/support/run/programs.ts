// Finds the programs that a run of tests needs, installs missing ones, and reports the tests that cannot run.

import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { findChromium, getChromium } from '../browser/chromium.ts'
import { ensureChdbLibrary, hasChdbLibrary } from '../clickhouse/chdb-library.ts'
import { findPostgres, getPostgresPrograms } from '../postgres/postgres-programs.ts'

interface Program {
  name: string
  /** Where it is, or undefined. */
  find(): string | undefined
  /** @throws a sentence */
  install(): void
  /** The manual alternative. */
  instead: string
  /** A test file needs the program when it imports this, itself or through what tests share. */
  startedBy: string
}

const PROGRAMS: Program[] = [
  {
    name: 'PostgreSQL',
    find: () => (process.env.TEST_DATABASE_URL ? 'TEST_DATABASE_URL' : findPostgres()),
    install: getPostgresPrograms,
    instead: 'install it, or set TEST_DATABASE_URL to a server that the tests may use',
    startedBy: 'tests/support/postgres/postgres-server.ts',
  },
  {
    name: 'Chromium',
    find: findChromium,
    install: getChromium,
    instead: 'install it, or set CHROMIUM to the path of its program',
    startedBy: 'tests/support/browser/chromium.ts',
  },
  {
    name: 'ClickHouse',
    find: () => (hasChdbLibrary() ? 'the cache of packages' : undefined),
    install: ensureChdbLibrary,
    instead: 'connect this machine to the npm registry once (546 MB)',
    startedBy: 'tests/support/clickhouse/clickhouse-server.ts',
  },
]

/** They import PostgreSQL's server for those who ask for it, and are told where it is missing. */
const ON_ANY_ENGINE = /^tests\/support\/(world|notification-harness|setup)\.ts$/

const sharedBy = new Map<string, Set<string>>()

/** @returns the files in tests/ and the fixtures that a test file imports, also through each other */
export function listShared(file: string): Set<string> {
  const known = sharedBy.get(file)
  if (known) return known
  const found = new Set<string>()
  sharedBy.set(file, found)
  for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(/from '(\.[^']+\.ts)'/g)) {
    const imported = relative('.', join(dirname(file), path))
    if (!/^tests\/|\.fixture\.ts$/.test(imported) || ON_ANY_ENGINE.test(imported)) continue
    // A text may quote an import.
    if (!existsSync(imported)) continue
    found.add(imported)
    for (const further of listShared(imported)) found.add(further)
  }
  return found
}

export interface ReadyPrograms {
  /** A sentence for each program that is missing. */
  missing: string[]
  /** Test files that cannot run without them. */
  leftOut: string[]
  /** The other files run on SQLite alone then. */
  isWithoutPostgres: boolean
}

/**
 * Prints the needed programs in the first line, and installs missing ones.
 * @param files the test files that the run would take
 */
export function preparePrograms(files: string[], say: (line: string) => void): ReadyPrograms {
  const needed = PROGRAMS.map((program) => ({
    ...program,
    files: files.filter((file) => listShared(file).has(program.startedBy)),
    // Servers of any test file may want a database.
  })).filter(({ files: own, name }) => own.length > 0 || name === 'PostgreSQL')
  const describeOne = ({ name, find }: Program) =>
    `${name} (${find() ? 'found' : 'missing: it will be installed'})`
  say(`These tests need ${needed.map(describeOne).join(', ')}.`)
  const ready: ReadyPrograms = { missing: [], leftOut: [], isWithoutPostgres: false }
  for (const program of needed) {
    try {
      if (!program.find()) program.install()
    } catch (error) {
      const [reason] = String((error as Error).message).split('\n')
      ready.missing.push(`${program.name} is missing: ${program.instead}. (${reason})`)
      say(`Goes on without ${program.name}: ${program.files.length} files are left out.`)
      ready.leftOut.push(...program.files)
      if (program.name === 'PostgreSQL') ready.isWithoutPostgres = true
    }
  }
  return ready
}
