// Stores submissions of concurrent requests in one transaction of PostgreSQL: a transaction of its own costs a submission ten
// times as much. SQLite's writes share their commit anyway.

import { type Insertable, sql } from 'kysely'
import { createBatcher } from '../../../lib/concurrency/batcher.ts'
import { Failure } from '../../../lib/failure.ts'
import { describeError, log } from '../../../lib/log.ts'
import { measureWrite } from '../../../storage/database/commit-stats.ts'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import type { Tables } from '../../../storage/database/tables.ts'
import { type Fingerprint, toEarlierText, toFirstInPostgres, toLocks } from './find-duplicate.ts'

interface PlainSubmission {
  fingerprint: Fingerprint
  row: Insertable<Tables['submissions']>
}

/** @returns the id; undefined where it is not stored, and needs a transaction of its own. @throws Failure `unavailable` */
export type StoreTogether = (submission: PlainSubmission) => Promise<number | undefined>

/** One statement has the texts of all of them. */
const AT_ONCE = 64
/** The row of a form that is being deleted is locked. Submissions to other forms wait for 200 ms at most. */
const LIMIT_OF_WAITS = sql`select set_config('lock_timeout', '200', true)`

export function createStoreTogether({ read, writeStatements }: Database): StoreTogether | undefined {
  if (!writeStatements) return undefined
  const store = createBatcher(
    async (submissions: PlainSubmission[]) => {
      try {
        return await storeAll(read, writeStatements, submissions)
      } catch (error) {
        // It is not certain that nothing is stored.
        if (error instanceof Failure) throw error
        log.warn('submissions_not_stored_together', describeError(error))
        return submissions.map(() => undefined)
      }
    },
    { max: AT_ONCE },
  )
  return (submission) => measureWrite(store(submission))
}

/** Leaves out what is identical to another one of these. */
async function storeAll(
  connection: Connection,
  writeStatements: NonNullable<Database['writeStatements']>,
  submissions: PlainSubmission[],
): Promise<(number | undefined)[]> {
  const different = [...new Map(submissions.map((each) => [each.fingerprint.hash, each])).values()]
  const locks = toLocks(different.map(({ fingerprint }) => fingerprint))
  const statements = [LIMIT_OF_WAITS, locks, toInsert(different)]
  const results = await writeStatements(statements.map((statement) => statement.compile(connection)))
  const ids = new Map((results.at(-1) as StoredRow[]).map(({ id, fingerprint }) => [fingerprint, id]))
  const stored = new Set(different)
  return submissions.map((each) => (stored.has(each) ? ids.get(each.fingerprint.text) : undefined))
}

interface StoredRow {
  id: number
  fingerprint: string
}

function toInsert(submissions: PlainSubmission[]) {
  const columns = Object.keys(submissions[0]?.row ?? {})
  const earlier = submissions.map(({ fingerprint }) => toEarlierText(fingerprint))
  const first = toFirstInPostgres({
    texts: sql`array[sent.fingerprint, (${earlier}::text[])[ordinality]]`,
    at: sql`sent.created_at`,
    workspaceId: sql`sent.workspace_id`,
  })
  // One value has all rows, so the text of the statement is the same for any number of them.
  const rows = JSON.stringify(submissions.map(({ row }) => row))
  return sql<StoredRow>`
    insert into submissions (duplicate_of, ${toList(columns)})
    select (${first}), ${toList(columns.map((name) => `sent.${name}`))}
    from json_populate_recordset(null::submissions, ${rows}::json) with ordinality as sent
    returning id, fingerprint`
}

const toList = (columns: string[]) => sql.raw(columns.join(', '))
