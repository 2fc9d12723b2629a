// Reads a file of another tool as an import does: recognises it, and reads each of its records.

import { join } from 'node:path'
import { openSourceFile } from '../files/open-source-file.ts'
import { readRecords } from '../files/read-records.ts'
import type { FieldProblem } from '../files/source-file.ts'
import type { ReadingOptions, SourceLink } from './source.ts'
import { recogniseSource } from './source-list.ts'

const PLAIN: ReadingOptions = { dateOrder: null, timeZone: 'UTC', mapping: {} }

/** The links of a file below `fixtures/`, and what is wrong with its rows. */
export async function readLinkFixture(path: string, options: Partial<ReadingOptions> = {}) {
  const file = await openSourceFile(join(import.meta.dir, 'fixtures', path), path)
  const recognition = recogniseSource(file)
  if (!recognition) throw new Error(`nobody knows ${path}`)
  const { source, has } = recognition
  const links: SourceLink[] = []
  const problems: (FieldProblem & { row: number })[] = []
  for await (const records of readRecords(file, source.links)) {
    for (const record of records) {
      const reading = source.toLink(record, { ...PLAIN, ...options })
      if (reading === null) continue
      if ('value' in reading) links.push(reading.value)
      else problems.push(...reading.problems.map((problem) => ({ row: record.row, ...problem })))
    }
  }
  return { source: source.name, has, file, links, problems }
}
