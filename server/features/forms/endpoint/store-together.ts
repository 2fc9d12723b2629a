// Stores submissions of concurrent requests in one transaction of PostgreSQL: a transaction of its own costs a submission ten
// times as much. SQLite's writes share their commit anyway.

import { type Insertable, sql } from 'kysely'
import { createBatcher } from '../../../lib/concurrency/batcher.ts'
import { Failure } from '../../../lib/failure.ts'
import { describeError, log } from '../../../lib/log.ts'
import { measureWrite } from '../../../storage/database/commit-stats.ts'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import type { Tables } from '../../../storage/database/tables.ts'
import { type Fingerprint, findFirstInPostgres, tryLockFingerprints } from './find-duplicate.ts'

interface PlainSubmission {
  fingerprint: Fingerprint
  row: Insertable<Tables['submissions']>
}

/** @returns the id; undefined where it is not stored, and needs a transaction of its own. @throws Failure `unavailable` */
export type StoreTogether = (submission: PlainSubmission) => Promise<number | undefined>

/** One statement has the texts of all of them. */
const AT_ONCE = 64
/** The row of a form that is being deleted is locked. Submissions to other forms wait no longer than this. */
const LOCK_MS = 200

export function createStoreTogether(db: Database): StoreTogether | undefined {
  if (db.engine === 'sqlite') return undefined
  const store = createBatcher((submissions: PlainSubmission[]) => storeAll(db, submissions), { max: AT_ONCE })
  return (submission) => measureWrite(store(submission))
}

async function storeAll(db: Database, submissions: PlainSubmission[]): Promise<(number | undefined)[]> {
  try {
    const ids = await db.write((connection) => insertAll(connection, submissions))
    return submissions.map((submission) => ids.get(submission))
  } catch (error) {
    // It is not certain that nothing is stored.
    if (error instanceof Failure) throw error
    log.warn('submissions_not_stored_together', describeError(error))
    return submissions.map(() => undefined)
  }
}

/** Leaves out what is identical to another one of these, or to one that another transaction stores at this moment. */
async function insertAll(
  connection: Connection,
  submissions: PlainSubmission[],
): Promise<Map<PlainSubmission, number>> {
  const byHash = new Map(submissions.map((submission) => [submission.fingerprint.hash, submission]))
  const locked = await tryLockFingerprints(connection, [...byHash.keys()], LOCK_MS)
  const stored = locked.map((hash) => byHash.get(hash) as PlainSubmission)
  if (stored.length === 0) return new Map()
  const fingerprints = stored.map(({ fingerprint }) => fingerprint)
  const firsts = await findFirstInPostgres(connection, fingerprints)
  const rows = stored.map(({ row, fingerprint: { hash } }) => ({
    ...row,
    duplicate_of: firsts.get(hash) ?? null,
  }))
  // One value for all rows: the text of the statement is the same for any number of them.
  const columns = sql.join(Object.keys(rows[0] ?? {}).map((name) => sql.ref(name)))
  const inserted = await sql<{ id: number; fingerprint: string }>`
    insert into submissions (${columns})
    select ${columns} from json_populate_recordset(null::submissions, ${JSON.stringify(rows)}::json)
    returning id, fingerprint`.execute(connection)
  const ids = new Map(inserted.rows.map(({ id, fingerprint }) => [fingerprint, id]))
  return new Map(stored.map((submission) => [submission, ids.get(submission.fingerprint.text) as number]))
}
