// The task `clicks`: turns the click history of a file into hits.

import { readRecords } from '../../files/read-records.ts'
import type { FileRecord } from '../../files/source-file.ts'
import type { HistoryRow } from '../../history/messages.ts'
import { readHistory } from '../../history/read-history.ts'
import { toClickKeys } from '../../sources/deduplication-keys.ts'
import { toClick } from '../../sources/read-record.ts'
import type { ImportSource, ReadingOptions } from '../../sources/source.ts'
import type { TaskFunction } from '../protocol.ts'
import { readArchiveClicks } from './archive-tasks.ts'
import { getSource, openClickFile } from './open-links.ts'

export const readClicks: TaskFunction<'clicks'> = async (input, send) => {
  if (input.source === 'towpath') return readArchiveClicks(input, send)
  const source = getSource(input.source)
  const file = await openClickFile(source, input.file)
  const place = source.clicks ?? source.links
  async function* openHistory() {
    for await (const records of readRecords(file, place))
      yield records.flatMap((record) => toHistoryRow(source, record, input.options) ?? [])
  }
  await readHistory(input.history, openHistory, send)
  return null
}

/** @returns undefined if the record is not a click */
function toHistoryRow(
  source: ImportSource,
  record: FileRecord,
  options: ReadingOptions,
): HistoryRow | undefined {
  const reading = toClick(source, record, options)
  if (!reading) return undefined
  const { row } = record
  if (!('value' in reading)) return { row, keys: [], click: null, problems: reading.problems }
  return { row, keys: toClickKeys(source, reading.value), click: reading.value, problems: [] }
}
