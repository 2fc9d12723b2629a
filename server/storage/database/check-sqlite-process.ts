// The process that checks a SQLite file table by table, so that there is a result when its time is over.
// Argument: the path of the file. It writes lines of JSON (`SqliteCheckLine`).

import type { SqliteCheckLine } from './check-sqlite.ts'
import { openSqliteReadOnly } from './open-reader.ts'

/** Enough to show the operator the kind of damage. */
const PROBLEMS_MAX = 5

const say = (line: SqliteCheckLine) => process.stdout.write(`${JSON.stringify(line)}\n`)

function check(path: string) {
  const database = openSqliteReadOnly(path)
  const tables = database
    .query("select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' order by name")
    .all() as { name: string }[]
  say({ tables: tables.length })
  for (const { name } of tables) say({ table: name, problems: checkTable(database, name) })
  database.close()
}

function checkTable(database: ReturnType<typeof openSqliteReadOnly>, table: string): string[] {
  const quoted = `"${table.replaceAll('"', '""')}"`
  try {
    const quick = database.query(`PRAGMA quick_check(${quoted})`).all() as { quick_check: string }[]
    const damage = quick.map(({ quick_check: text }) => text).filter((text) => text !== 'ok')
    const orphans = database.query(`PRAGMA foreign_key_check(${quoted})`).all().length
    const missing = orphans === 0 ? [] : [`${orphans} rows of ${table} name rows that are not there`]
    return [...damage, ...missing].slice(0, PROBLEMS_MAX)
  } catch (error) {
    return [`${table}: ${error instanceof Error ? error.message : String(error)}`]
  }
}

try {
  check(process.argv[2] ?? '')
} catch (error) {
  // The pages that name the tables are damaged.
  const isDamaged = /^SQLITE_(CORRUPT|NOTADB)/.test(String((error as { code?: unknown }).code))
  if (isDamaged) {
    say({ tables: 1 })
    say({ table: '', problems: [(error as Error).message] })
    process.exit()
  }
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
