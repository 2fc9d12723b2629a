// Each SQLite call of a write batch fails once, in every way that a disk can cause. No promise may resolve without its
// row, no part of a refused write may be stored, and the next write must work.

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
  /** True when SQLite rolls the transaction back by itself on this error. */
  rolledBack?: boolean
  /** The error comes after a commit that succeeded, so that nobody knows the outcome. Other calls do not fail. */
  after?: boolean
  /** The number of rollbacks that fail after the error. */
  rollbacksFail?: number
}

let countdown = Number.POSITIVE_INFINITY
let fault: Fault = { code: '' }
let rollbacksToFail = 0
let calls = 0

const sqliteError = (code: string) => Object.assign(new Error(`injected ${code}`), { code })

/** Counts a call and fails before it, if it is its turn. @returns a function to call after the SQLite call */
function countCall(database: Database, text: string): () => void {
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
    const after = countCall(this, text)
    const result = original.run.call(this, text, ...rest)
    after()
    return result
  } as typeof Database.prototype.run
  Database.prototype.query = function (this: Database, text: string) {
    const statement = original.query.call(this, text)
    // Reads outside a transaction are no part of a write.
    if (!this.inTransaction && !/insert/i.test(text)) return statement
    const watched =
      <T>(call: (...values: never[]) => T) =>
      (...values: never[]) => {
        const after = countCall(this, text)
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
  db = await openDatabase({ dataDir, isSoleServer: true })
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

/** Starts several kinds of writes at once. Each outcome has the names of the rows that must exist on success. */
async function writeBatch(prefix: string): Promise<Outcome[]> {
  const insertBoth = async (connection: Connection, a: string, b: string) => {
    await insertWorkspace(connection, a)
    await insertWorkspace(connection, b)
  }
  const shapes: ((connection: Connection, names: [string, string], within: typeof db) => Promise<unknown>)[] =
    [
      (connection, [a, b]) => insertBoth(connection, a, b),
      // Continues after a failed statement, as creating a link does when a slug is taken.
      async (connection, [a, b]) => {
        await insertWorkspace(connection, a).catch(() => insertWorkspace(connection, a))
        await insertWorkspace(connection, b)
      },
      // An inner write that is rolled back, and an insert after it.
      async (connection, [a, b], within) => {
        await within.write((connection) => insertWorkspace(connection, a))
        await within.write(() => Promise.reject(new Error('given up'))).catch(() => undefined)
        await insertWorkspace(connection, b)
      },
      (connection, [a, b]) => insertBoth(connection, a, b),
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

describe('a write batch whose nth SQLite call fails', () => {
  test.each(FAULTS.map((each) => [describeFault(each), each] as const))('with %s', async (name, injected) => {
    const prefix = name.replaceAll(/\W/g, '')
    calls = 0
    inject()
    await writeBatch(`${prefix}-whole`)
    const total = calls
    restore()
    expect(total).toBeGreaterThan(20)

    for (let n = 1; n <= total; n++) {
      const round = `${prefix}-${String(n).padStart(3, '0')}`
      fault = injected
      countdown = n
      inject()
      const outcomes = await writeBatch(round)
      restore()
      const allStored = new Set(await listWorkspaceNames(db, round))
      for (const { names, called, result } of outcomes) {
        const storedNames = names.filter((each) => allStored.has(each))
        const message = `${round}: ${result.status}, stored ${storedNames}`
        if (result.status === 'fulfilled') {
          expect(storedNames, message).toEqual(names)
          expect(called, message).toBe(true)
          continue
        }
        expect(result.reason, message).toBeInstanceOf(Failure)
        expect(result.reason.code, message).toBe('unavailable')
        expect(called, message).toBe(false)
        // A write is never half stored. It is stored in full only when the error came after the commit.
        expect(
          storedNames.length === 0 || (injected.after && storedNames.length === names.length),
          message,
        ).toBe(true)
      }
      const next = await db
        .write((connection) => insertWorkspace(connection, `${round}-next`))
        .catch(() => undefined)
      // After rollbacks that failed, the next write may fail once more, because it ends the old transaction.
      if (!injected.rollbacksFail) expect(next?.public_id, round).toBe(`${round}-next`)
      rollbacksToFail = 0
      await db.write((connection) => insertWorkspace(connection, `${round}-last`))
    }
    expect(original.query.call(openReader(), 'pragma integrity_check').all()).toEqual([
      { integrity_check: 'ok' },
    ])
  })
})

const openReader = () => new Database(join(dataDir, 'towpath.db'), { readonly: true })
