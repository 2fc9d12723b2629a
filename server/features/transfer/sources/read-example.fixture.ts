// Reads an example of a tool's export as an import does: detects its source, opens it, and reads each record.

import { basename, join } from 'node:path'
import { openSourceFile } from '../files/open-source-file.ts'
import { readRecords } from '../files/read-records.ts'
import type { FieldProblem } from '../files/source-file.ts'
import type { ImportSourceName } from '../schema.ts'
import { toClick, toLink } from './read-record.ts'
import type { Reading, ReadingOptions, SourceClick, SourceLink } from './source.ts'
import { createSourceClick } from './source-click.ts'
import { createSourceLink } from './source-link.ts'
import { findSource, recognizeSource } from './source-list.ts'

export const UTC: ReadingOptions = { dateOrder: null, timeZone: 'UTC', mapping: {} }

type Row<T> = T | FieldProblem[] | null

export interface ExampleRows {
  /** `source has`, such as `yourls both`. */
  recognized: string | null
  links: Row<SourceLink>[]
  clicks: Row<SourceClick>[]
}

const toRow = <T>(reading: Reading<T>): Row<T> =>
  reading === null ? null : 'value' in reading ? reading.value : reading.problems

/** @param tool the folder in `fixtures` */
export const readExample = (tool: ImportSourceName, name: string, options: ReadingOptions = UTC) =>
  readExampleFile(tool, join(import.meta.dir, 'fixtures', tool, name), options)

export async function readExampleFile(
  tool: ImportSourceName,
  path: string,
  options: ReadingOptions = UTC,
): Promise<ExampleRows> {
  const source = findSource(tool)
  if (!source) throw new Error(`there is no source ${tool}`)
  const file = await openSourceFile(path, basename(path))
  const found = recognizeSource(file)
  const rows: ExampleRows = {
    recognized: found && `${found.source.name} ${found.has}`,
    links: [],
    clicks: [],
  }
  if (found?.has !== 'clicks')
    for await (const batch of readRecords(file, source.links))
      rows.links.push(...batch.map((record) => toRow(toLink(source, record, options))))
  if (found?.has !== 'links' && source.clicks)
    for await (const batch of readRecords(file, source.clicks))
      rows.clicks.push(...batch.map((record) => toRow(toClick(source, record, options))))
  return rows
}

/** The expected result of a row, with its times as people write them. */
type Expected<T, Time extends keyof T> = Partial<Omit<T, Time>> & { [name in Time]?: string }

const toTimes = (times: Record<string, string | undefined>) =>
  Object.fromEntries(Object.entries(times).map(([name, text]) => [name, text ? Date.parse(text) : null]))

export const link = (
  destinationUrl: string,
  { createdAt, startsAt, expiresAt, ...rest }: Expected<SourceLink, 'createdAt' | 'startsAt' | 'expiresAt'>,
): SourceLink => createSourceLink({ destinationUrl, ...rest, ...toTimes({ createdAt, startsAt, expiresAt }) })

export const click = (at: string, rest: Partial<SourceClick>): SourceClick =>
  createSourceClick({ ...rest, at: Date.parse(at) })
