// Finds the programs that a run of tests needs, installs what is missing, and says which tests go without.

import { readFileSync } from 'node:fs'
import { findChromium, getChromium } from '../browser/chromium.ts'
import { ensureChdbLibrary, hasChdbLibrary } from '../clickhouse/chdb-library.ts'
import { findPostgres, getPostgresPrograms } from '../postgres/postgres-programs.ts'

interface Program {
  name: string
  /** Where it is, or undefined. */
  find(): string | undefined
  /** @throws a sentence */
  install(): void
  /** What a person can do instead. */
  instead: string
  /** A test file that imports this needs the program. */
  importedBy: RegExp
}

const PROGRAMS: Program[] = [
  {
    name: 'PostgreSQL',
    find: () => (process.env.TEST_DATABASE_URL ? 'TEST_DATABASE_URL' : findPostgres()),
    install: getPostgresPrograms,
    instead: 'install it, or set TEST_DATABASE_URL to a server that the tests may use',
    importedBy: /from '.*\/(postgres-server|start-cluster)\.ts'/,
  },
  {
    name: 'Chromium',
    find: findChromium,
    install: getChromium,
    instead: 'install it, or set CHROMIUM to the path of its program',
    importedBy: /from '.*\/(chromium|dashboard-browser|customer-site)\.ts'/,
  },
  {
    name: 'ClickHouse',
    find: () => (hasChdbLibrary() ? 'the cache of packages' : undefined),
    install: ensureChdbLibrary,
    instead: 'connect this machine to the npm registry once (546 MB)',
    importedBy: /from '.*\/clickhouse-server\.ts'/,
  },
]

export interface ReadyPrograms {
  /** A sentence for each program that is missing. */
  missing: string[]
  /** Test files that cannot run without them. */
  leftOut: string[]
  /** The other files run on SQLite alone then. */
  isWithoutPostgres: boolean
}

/**
 * Says in its first line what the run needs, and installs what is missing.
 * @param files the test files that the run would take
 */
export function preparePrograms(files: string[], say: (line: string) => void): ReadyPrograms {
  const needed = PROGRAMS.map((program) => ({
    ...program,
    files: files.filter((file) => program.importedBy.test(readFileSync(file, 'utf8'))),
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
      ready.leftOut.push(...program.files)
      if (program.name === 'PostgreSQL') ready.isWithoutPostgres = true
    }
  }
  return ready
}
