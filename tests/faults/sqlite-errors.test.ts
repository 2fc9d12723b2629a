// SQLite's own calls fail one after the other, each in every way that a disk makes them fail. No promise may resolve
// without its row, none of a refused write may be stored, and the next write must work.

import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Failure } from '../../server/lib/failure.ts'
import { setLogLevel } from '../../server/lib/log.ts'
import { toNestedDatabase } from '../../server/storage/database/nested-database.ts'
import {
  type Connection,
  type DatabaseHandle,
  openDatabase,
} from '../../server/storage/database/open-database.ts'
import { insertWorkspace, listWorkspaceNames } from '../contracts/database.ts'

interface Fault {
  code: string
  /** SQLite ends the transaction by itself on some errors, and not on others. */
  rolledBack?: boolean
  /** The commit did what it should, and then the disk said no: nobody knows. Other calls are left alone. */
  after?: boolean
  /** The rollback after it fails as well, this many times. */
  rollbacksFail?: number
}

let countdown = Number.POSITIVE_INFINITY
let fault: Fault = { code: '' }
let rollbacksToFail = 0
let calls = 0

const sqliteError = (code: string) => Object.assign(new Error(`injected ${code}`), { code })

/** @returns what happens after the call */
function step(database: Database, text: string): () => void {
  if (/^ROLLBACK$/i.test(text) && rollbacksToFail > 0) {
    rollbacksToFail--
    throw sqliteError('SQLITE_IOERR')
  }
  calls++
  if (--countdown !== 0) return () => {}
  const fail = () => {
    rollbacksToFail = fault.rollbacksFail ?? 0
    if (fault.rolledBack && database.inTransaction) original.run.call(database, 'ROLLBACK')
    throw sqliteError(fault.code)
  }
  if (fault.after) return /^COMMIT$/i.test(text) ? fail : () => {}
  return fail()
}

const original = { run: Database.prototype.run, query: Database.prototype.query }

function inject() {
  Database.prototype.run = function (this: Database, text: string, ...rest: never[]) {
    const after = step(this, text)
    const result = original.run.call(this, text, ...rest)
    after()
    return result
  } as typeof Database.prototype.run
  Database.prototype.query = function (this: Database, text: string) {
    const statement = original.query.call(this, text)
    // Questions of the reader are no part of a write.
    if (!this.inTransaction && !/insert/i.test(text)) return statement
    const watched =
      <T>(call: (...values: never[]) => T) =>
      (...values: never[]) => {
        const after = step(this, text)
        const result = call.apply(statement, values)
        after()
        return result
      }
    const { all, run, columnNames } = statement
    return { columnNames, all: watched(all as never), run: watched(run as never) }
  } as never
}

function restore() {
  countdown = Number.POSITIVE_INFINITY
  Object.assign(Database.prototype, original)
}

let dataDir: string
let db: DatabaseHandle
beforeAll(async () => {
  setLogLevel('silent')
  dataDir = mkdtempSync(join(tmpdir(), 'towpath-nth-'))
  db = await openDatabase({ dataDir })
})
afterAll(async () => {
  restore()
  await db.close()
  rmSync(dataDir, { recursive: true, force: true })
})

interface Outcome {
  names: string[]
  called: boolean
  result: PromiseSettledResult<unknown>
}

/** Writes of many shapes in one turn. Each names the rows that are there if it succeeds. */
async function batch(prefix: string): Promise<Outcome[]> {
  const both = async (connection: Connection, a: string, b: string) => {
    await insertWorkspace(connection, a)
    await insertWorkspace(connection, b)
  }
  const shapes: ((connection: Connection, names: [string, string], within: typeof db) => Promise<unknown>)[] =
    [
      (connection, [a, b]) => both(connection, a, b),
      // Goes on after a failed statement, as a verb does that tries another slug.
      async (connection, [a, b]) => {
        await insertWorkspace(connection, a).catch(() => insertWorkspace(connection, a))
        await insertWorkspace(connection, b)
      },
      // An inner write that is given up, and what follows it.
      async (connection, [a, b], within) => {
        await within.write((connection) => insertWorkspace(connection, a))
        await within.write(() => Promise.reject(new Error('given up'))).catch(() => undefined)
        await insertWorkspace(connection, b)
      },
      (connection, [a, b]) => both(connection, a, b),
    ]
  const outcomes = shapes.map(async (shape, i) => {
    const names: [string, string] = [`${prefix}-${i}a`, `${prefix}-${i}b`]
    const outcome = { names, called: false }
    const writing = db.write((connection, onCommit) => {
      onCommit(() => {
        outcome.called = true
      })
      return shape(connection, names, { ...db, ...toNestedDatabase(db, connection, onCommit) })
    })
    const [result] = await Promise.allSettled([writing])
    return { ...outcome, result } as Outcome
  })
  return Promise.all(outcomes)
}

const FAULTS: Fault[] = [
  { code: 'SQLITE_FULL' },
  { code: 'SQLITE_FULL', rolledBack: true },
  { code: 'SQLITE_IOERR_WRITE' },
  { code: 'SQLITE_IOERR_FSYNC', rolledBack: true },
  { code: 'SQLITE_IOERR_FSYNC', after: true },
  { code: 'SQLITE_NOMEM' },
  { code: 'SQLITE_FULL', rollbacksFail: 1 },
  { code: 'SQLITE_IOERR_WRITE', rollbacksFail: 3 },
]

const describeFault = ({ code, rolledBack, after, rollbacksFail }: Fault) =>
  [
    code,
    rolledBack && 'that ends the transaction',
    after && 'after the commit was done',
    rollbacksFail && `and ${rollbacksFail} failed rollbacks`,
  ]
    .filter(Boolean)
    .join(' ')

describe('a write batch whose Nth call fails', () => {
  test.each(FAULTS.map((each) => [describeFault(each), each] as const))('with %s', async (name, injected) => {
    const prefix = name.replaceAll(/\W/g, '')
    calls = 0
    inject()
    await batch(`${prefix}-whole`)
    const total = calls
    restore()
    expect(total).toBeGreaterThan(20)

    for (let n = 1; n <= total; n++) {
      const round = `${prefix}-${String(n).padStart(3, '0')}`
      fault = injected
      countdown = n
      inject()
      const outcomes = await batch(round)
      restore()
      const found = new Set(await listWorkspaceNames(db, round))
      for (const { names, called, result } of outcomes) {
        const there = names.filter((each) => found.has(each))
        const told = `${round}: ${result.status}, stored ${there}`
        if (result.status === 'fulfilled') {
          expect(there, told).toEqual(names)
          expect(called, told).toBe(true)
          continue
        }
        expect(result.reason, told).toBeInstanceOf(Failure)
        expect(result.reason.code, told).toBe('unavailable')
        expect(called, told).toBe(false)
        // Half of a write is never there; all of it only where the commit was done and nobody could know.
        expect(there.length === 0 || (injected.after && there.length === names.length), told).toBe(true)
      }
      const next = await db
        .write((connection) => insertWorkspace(connection, `${round}-next`))
        .catch(() => undefined)
      // After a rollback that failed for good, the first to come may be the one that clears it away.
      if (!injected.rollbacksFail) expect(next?.public_id, round).toBe(`${round}-next`)
      rollbacksToFail = 0
      await db.write((connection) => insertWorkspace(connection, `${round}-last`))
    }
    expect(original.query.call(checker(), 'pragma integrity_check').all()).toEqual([
      { integrity_check: 'ok' },
    ])
  })
})

const checker = () => new Database(join(dataDir, 'towpath.db'), { readonly: true })
