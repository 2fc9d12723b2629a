// Reads a record with its source.

import { FieldReader } from '../files/fields.ts'
import type { FileRecord } from '../files/source-file.ts'
import type { ImportSource, Reading, ReadingOptions, SourceClick, SourceLink } from './source.ts'
import { createSourceClick } from './source-click.ts'
import { createSourceLink } from './source-link.ts'

export const toLink = (
  source: ImportSource,
  record: FileRecord,
  options: ReadingOptions,
): Reading<SourceLink> =>
  readRecord(record, (fields) => {
    const link = source.readLink(fields, options)
    return link && createSourceLink(link)
  })

export const toClick = (
  source: ImportSource,
  record: FileRecord,
  options: ReadingOptions,
): Reading<SourceClick> =>
  readRecord(record, (fields) => {
    const click = source.readClick?.(fields, options)
    return click ? createSourceClick(click) : null
  })

/** Does not read the fields of a broken record, which are invalid. */
function readRecord<T>(record: FileRecord, read: (fields: FieldReader) => T | null): Reading<T> {
  const fields = new FieldReader(record)
  const value = record.problem ? undefined : read(fields)
  if (value === null) return null
  return value === undefined || fields.problems.length > 0 ? { problems: fields.problems } : { value }
}
