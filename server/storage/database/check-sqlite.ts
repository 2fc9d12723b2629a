// Checks the SQLite file for a limited time, in a separate process, because SQLite would block the event loop.

import { join } from 'node:path'

export interface SqliteCheck {
  /** The damage, in SQLite's words; empty when there is none. */
  problems: string[]
  tables: number
  /** Tables that were checked completely within the time. */
  checked: number
}

/** A line from the process: the number of tables, or the result of one check. */
export type SqliteCheckLine = { tables: number } | { table: string; problems: string[] }

/** @throws when the file cannot be opened */
export async function checkSqlite(path: string, timeoutMs: number): Promise<SqliteCheck> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'check-sqlite-process.ts'), path], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs)
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  clearTimeout(timer)
  if (code !== 0 && child.signalCode === null)
    throw new Error(err.trim().split('\n').at(-1) ?? 'no reason given')
  const check: SqliteCheck = { problems: [], tables: 0, checked: 0 }
  // A killed process may have written half a line.
  for (const text of out.split('\n').slice(0, -1)) {
    const line = JSON.parse(text) as SqliteCheckLine
    if ('tables' in line) check.tables = line.tables
    else {
      check.checked++
      check.problems.push(...line.problems)
    }
  }
  return check
}
