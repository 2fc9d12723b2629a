// Check: every uploaded file is where its row says, and no other file takes room there.

import type { FileStore } from '../../../storage/files/file-store.ts'
import { type CheckResult, complaintsOr, problem, warning } from '../finding.ts'
import { formatCount } from '../format.ts'
import { type DoctorNeeds, type RowReader, withRows } from '../needs.ts'

/** The server looks at the newest rows only, and the command at all. */
const NEWEST = 100
const ROWS_AT_ONCE = 1_000
/** The sweep leaves a file alone for an hour, and runs once an hour. */
const SWEPT_AFTER_MS = 3 * 60 * 60 * 1000
/** The job deletes twenty at a time, every five seconds. */
const WAITING_MAX = 1_000

type Files = Pick<FileStore, 'list' | 'read'>

export async function checkUploads(needs: DoctorNeeds): Promise<CheckResult[]> {
  const files = await needs.openFiles()
  return withRows(needs, async (rows) => {
    try {
      const complaints = needs.isThorough
        ? await compareAll(rows, files, needs.now())
        : await readNewest(rows, files)
      complaints.push(...(await judgeWaiting(rows)))
      return complaintsOr(complaints, await summarize(rows))
    } catch (error) {
      if (!(error instanceof Error)) throw error
      const fix =
        'Check that the bucket answers this machine, and that UPLOADS_S3_URL has the right key and secret.'
      return [problem(`Uploads cannot be read: ${error.message}.`, fix)]
    }
  })
}

const LOST =
  'Put the files back from a backup: DATA_DIR/uploads, or the bucket. The rest of their submissions is complete.'

async function compareAll(rows: RowReader, files: Files, now: number): Promise<CheckResult[]> {
  // A row that comes from now on may name a file that the list does not have.
  const newest = await rows.read
    .selectFrom('submission_files')
    .select((e) => e.fn.max('id').as('id'))
    .executeTakeFirst()
  const orphans = new Set<string>()
  const stored = new Set<string>()
  for await (const { key, at } of files.list()) {
    stored.add(key)
    if (at < now - SWEPT_AFTER_MS) orphans.add(key)
  }
  let lost = 0
  for await (const keys of readKeys(rows, Number(newest?.id ?? 0))) {
    for (const key of keys) {
      if (!stored.has(key)) lost++
      orphans.delete(key)
    }
  }
  const found: CheckResult[] = []
  if (lost > 0) found.push(problem(`Submissions miss ${formatCount(lost, 'file')}.`, LOST))
  if (orphans.size > 0)
    found.push(
      warning(
        `The store has ${formatCount(orphans.size, 'file')} without a submission.`,
        'A running server deletes them within some hours. Where no server runs, start one.',
      ),
    )
  return found
}

/** Reads the rows of all workspaces. */
async function* readKeys({ read }: RowReader, upTo: number): AsyncGenerator<string[]> {
  for (let after: number | undefined = 0; after !== undefined; ) {
    const rows: { id: number; key: string }[] = await read
      .selectFrom('submission_files')
      .select(['id', 'key'])
      .where('id', '>', after)
      .where('id', '<=', upTo)
      .orderBy('id')
      .limit(ROWS_AT_ONCE)
      .execute()
    yield rows.map(({ key }) => key)
    after = rows.length < ROWS_AT_ONCE ? undefined : rows.at(-1)?.id
  }
}

async function readNewest({ read }: RowReader, files: Files): Promise<CheckResult[]> {
  const newest = await read
    .selectFrom('submission_files')
    .select(['key', 'bytes'])
    .orderBy('id', 'desc')
    .limit(NEWEST)
    .execute()
  let lost = 0
  for (const { key, bytes } of newest) {
    // An empty file has no first byte.
    const stream = await files.read(key, bytes > 0 ? { start: 0, end: 1 } : undefined)
    await stream?.cancel()
    if (!stream) lost++
  }
  return lost === 0
    ? []
    : [problem(`Submissions miss ${lost} of their newest ${formatCount(newest.length, 'file')}.`, LOST)]
}

async function judgeWaiting({ read }: RowReader): Promise<CheckResult[]> {
  const { n } = await read
    .selectFrom('erased_files')
    .select((e) => e.fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow()
  if (Number(n) <= WAITING_MAX) return []
  return [
    warning(
      `${n} files of deleted submissions wait for their deletion.`,
      'See the log of the server for uploads_not_erased: the directory or the bucket refuses it.',
    ),
  ]
}

async function summarize({ read }: RowReader): Promise<string> {
  const { n } = await read
    .selectFrom('submission_files')
    .select((e) => e.fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow()
  return Number(n) === 0
    ? 'No submission has files.'
    : `Submissions have ${formatCount(Number(n), 'file')}, all present.`
}
