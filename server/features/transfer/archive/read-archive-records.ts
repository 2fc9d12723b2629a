// Reads the records of an archive in the order in which they are stored: what others refer to comes first.

import { countArchiveClicks } from './read-archive-hits.ts'
import { type Archive, openArchive } from './open-archive.ts'
import { type ArchiveLine, readLines } from './read-lines.ts'
import { type ArchiveRecord, RECORD_FILES, RECORD_SCHEMAS, type RecordFileName } from './record-schemas.ts'

/** One line of a file: what it has, or what is wrong with it. */
export type RecordReading<Name extends RecordFileName = RecordFileName> = { row: number } & (
  | { record: ArchiveRecord<Name>; problem?: undefined }
  | { record?: undefined; problem: { field: string; message: string } }
)

/** Readings of one file. */
export type RecordBatch = {
  [Name in RecordFileName]: { file: Name; readings: RecordReading<Name>[] }
}[RecordFileName]

/** A batch becomes one transaction: redirects and other writers wait for no more. */
const BATCH_RECORDS = 25

/**
 * Sends all records, some at a time. A link's `clicks` are those that no hit of the archive stands for.
 * @param skip so many lines of all files together are stored already @throws FileProblem
 */
export async function readArchiveRecords(
  { path, skip }: { path: string; skip: number },
  send: (batch: RecordBatch) => Promise<unknown>,
): Promise<void> {
  const archive = await openArchive(path)
  try {
    let left = skip
    for (const file of RECORD_FILES) {
      const finish = file === 'links.ndjson' ? await createClickFinisher(archive) : undefined
      for await (const lines of readLines(archive, file)) {
        const fresh = lines.slice(left)
        left = Math.max(0, left - lines.length)
        for (let from = 0; from < fresh.length; from += BATCH_RECORDS) {
          const readings = fresh.slice(from, from + BATCH_RECORDS).map((line) => toReading(file, line))
          await send({ file, readings: finish ? readings.map(finish as never) : readings } as RecordBatch)
        }
      }
    }
  } finally {
    await archive.close()
  }
}

async function createClickFinisher(archive: Archive) {
  const clicks = await countArchiveClicks(archive)
  return ({ row, record, problem }: RecordReading<'links.ndjson'>): RecordReading<'links.ndjson'> =>
    record
      ? { row, record: { ...record, clicks: Math.max(0, record.clicks - (clicks.get(record.id) ?? 0)) } }
      : { row, problem }
}

function toReading<Name extends RecordFileName>(file: Name, { row, record }: ArchiveLine): RecordReading<Name> {
  if (record === undefined) return { row, problem: { field: '', message: 'This line is no JSON.' } }
  const parsed = RECORD_SCHEMAS[file].safeParse(record)
  if (parsed.success) return { row, record: parsed.data as ArchiveRecord<Name> }
  const [issue] = parsed.error.issues
  return { row, problem: { field: issue?.path.join('.') ?? '', message: issue?.message ?? 'is wrong' } }
}
