// Reads the records of an archive in the order in which they are stored: a record comes after those that it refers to.

import { Failure } from '../../../lib/failure.ts'
import { requireValidRules } from '../../forms/rules/check-rules.ts'
import { CreateForm } from '../../forms/schema.ts'
import { type Archive, openArchive } from './open-archive.ts'
import { countHitsByLink } from './read-archive-hits.ts'
import { type ArchiveLine, readLines } from './read-lines.ts'
import { type ArchiveRecord, RECORD_FILES, RECORD_SCHEMAS, type RecordFileName } from './record-schemas.ts'

/** One line of a file: its record, or its problem. */
export type RecordReading<Name extends RecordFileName = RecordFileName> = { row: number } & (
  | { record: ArchiveRecord<Name>; problem?: undefined }
  | { record?: undefined; problem: { field: string; message: string } }
)

/** Readings of one file. */
export type RecordBatch = {
  [Name in RecordFileName]: { file: Name; readings: RecordReading<Name>[] }
}[RecordFileName]

/** A batch is one transaction, so that redirects and other writers wait only for a few records. */
const BATCH_RECORDS = 25

/**
 * Sends all records, some at a time. A link's `clicks` are a total, like those of other tools (history/click-totals.ts).
 * The total minus the hits of the archive is the number of clicks without a hit.
 * @param skip the number of lines of all files together that are stored already @throws FileProblem
 */
export async function readArchiveRecords(
  { path, skip }: { path: string; skip: number },
  send: (batch: RecordBatch) => Promise<unknown>,
): Promise<void> {
  const archive = await openArchive(path)
  try {
    let left = skip
    for (const file of RECORD_FILES) {
      const finish = await createFinisher(archive, file)
      for await (const lines of readLines(archive, file)) {
        const readings = []
        for (const line of lines) readings.push(await finish(toReading(file, line)))
        const fresh = readings.slice(left)
        left = Math.max(0, left - lines.length)
        for (let from = 0; from < fresh.length; from += BATCH_RECORDS)
          await send({ file, readings: fresh.slice(from, from + BATCH_RECORDS) } as RecordBatch)
      }
    }
  } finally {
    await archive.close()
  }
}

type Finisher = (reading: RecordReading) => RecordReading | Promise<RecordReading>

/**
 * Work that needs more than one record. The finisher gets every record of its file, including stored ones.
 */
async function createFinisher(archive: Archive, file: RecordFileName): Promise<Finisher> {
  if (file === 'links.ndjson') return (await createClickFinisher(archive)) as Finisher
  if (file === 'forms.ndjson') return checkRules as Finisher
  if (file === 'submissions.ndjson') return createFileChecker(archive) as Finisher
  return (reading) => reading
}

/** Checks the rules of fields as the API does: besides their schema, patterns are compiled. */
async function checkRules(reading: RecordReading<'forms.ndjson'>): Promise<RecordReading<'forms.ndjson'>> {
  const rules = CreateForm.shape.rules.safeParse(reading.record?.rules)
  // Mistakes of the schema are reported when the form is stored.
  if (!rules.success) return reading
  try {
    await requireValidRules(rules.data)
    return reading
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    const [[field, message] = ['rules', error.message]] = Object.entries(error.detail.errors ?? {})
    return { row: reading.row, problem: { field, message } }
  }
}

/** Checks that each packed file belongs to one record, with its size. Otherwise a small zip could unpack one file many times. */
function createFileChecker(archive: Archive) {
  const named = new Set<string>()
  return (reading: RecordReading<'submissions.ndjson'>): RecordReading<'submissions.ndjson'> => {
    for (const { path, bytes } of reading.record?.files ?? []) {
      const found = archive.findFileBytes(path)
      // A file whose bytes were missing at the export is not in the zip.
      if (found === undefined) continue
      const message = named.has(path)
        ? `name ${path}, which is named before`
        : found !== bytes && `name ${path} with ${bytes} bytes, and it has ${found}`
      if (message) return { row: reading.row, problem: { field: 'files', message } }
      named.add(path)
    }
    return reading
  }
}

async function createClickFinisher(archive: Archive) {
  const byLink = await countHitsByLink(archive)
  return (reading: RecordReading<'links.ndjson'>): RecordReading<'links.ndjson'> => {
    const { row, record } = reading
    if (!record) return reading
    const { hits, clicks } = byLink.get(record.id) ?? { hits: 0, clicks: 0 }
    const total = record.clicks > clicks ? record.clicks - clicks + hits : 0
    return { row, record: { ...record, clicks: total } }
  }
}

function toReading<Name extends RecordFileName>(
  file: Name,
  { row, record }: ArchiveLine,
): RecordReading<Name> {
  if (record === undefined) return { row, problem: { field: '', message: 'This line is no JSON.' } }
  const parsed = RECORD_SCHEMAS[file].safeParse(record)
  if (parsed.success) return { row, record: parsed.data as ArchiveRecord<Name> }
  const [issue] = parsed.error.issues
  return { row, problem: { field: issue?.path.join('.') ?? '', message: issue?.message ?? 'is wrong' } }
}
