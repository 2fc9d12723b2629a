// The task `inspect`: detects the format of a file, so that a person can map its columns and domains.

import { DateOrders } from '../../files/date-orders.ts'
import { openSourceFile } from '../../files/open-source-file.ts'
import { readRecords } from '../../files/read-records.ts'
import { FileProblem, type FileRecord, type SourceFile } from '../../files/source-file.ts'
import { DATE_ORDERS } from '../../schema.ts'
import { toClick, toLink } from '../../sources/read-record.ts'
import type { ImportSource, ReadingOptions } from '../../sources/source.ts'
import { type Recognition, recognizeSource } from '../../sources/source-list.ts'
import type { Inspection, TaskFunction } from '../protocol.ts'

const COLUMNS_MAX = 200
const SAMPLES = 5
const SAMPLE_MAX = 200
const HOSTS_MAX = 100
/** The most inspected rows: all rows of most files, in a few seconds. */
const ROWS_MAX = 200_000

export const inspectFile: TaskFunction<'inspect'> = async ({ file: { path, name }, options }) => {
  const file = await openSourceFile(path, name)
  if (file.format === 'zip') return toArchiveInspection(file)
  const recognition = recognizeSource(file)
  if (!recognition) throw new FileProblem('The file has no columns.')
  if (recognition.source.name === 'csv' && file.format === 'sql')
    throw new FileProblem('The tables of this dump are unknown. Export the links as CSV, and import that.')
  return inspectRecords(file, recognition, options)
}

/** The inspection of a zip, which is an export of this product. */
const toArchiveInspection = (file: SourceFile): Inspection => ({
  source: 'towpath',
  title: 'Towpath',
  holds: 'links',
  format: file.format,
  encoding: file.encoding,
  rows: 0,
  columns: [],
  mapping: {},
  hosts: [],
  ambiguousDates: false,
  dateSamples: [],
})

async function inspectRecords(
  file: SourceFile,
  { source, has, columns }: Recognition,
  options: ReadingOptions,
): Promise<Inspection> {
  const holds = has === 'clicks' ? 'clicks' : 'links'
  const place = (holds === 'clicks' ? source.clicks : undefined) ?? source.links
  const samples = createSamples(columns)
  const hosts = new Map<string, number>()
  const dateOrders = new DateOrders()
  const mapping = source.suggestMapping?.(columns) ?? {}
  const reading = { ...options, mapping: { ...mapping, ...options.mapping }, dateOrders }
  let rows = 0
  for await (const records of readRecords(file, place)) {
    for (const record of records) {
      rows++
      samples.add(record)
      dateOrders.row = record.row
      const host = readHost(source, holds, record, reading)
      if (host !== undefined) hosts.set(host, (hosts.get(host) ?? 0) + 1)
    }
    if (rows >= ROWS_MAX) break
  }
  return {
    source: source.name,
    title: source.title,
    holds,
    format: file.format,
    encoding: file.encoding,
    rows,
    columns: samples.list(),
    mapping,
    hosts: [...hosts]
      .sort(([, a], [, b]) => b - a)
      .slice(0, HOSTS_MAX)
      .map(([host, links]) => ({ host, links })),
    ambiguousDates: options.dateOrder === null && dateOrders.ambiguous !== null,
    dateSamples: [
      dateOrders.ambiguous?.text,
      dateOrders.contradiction?.first.text,
      dateOrders.contradiction?.second.text,
    ].filter((text) => text !== undefined),
  }
}

/** Reads the host of a record, also while the order of dates is unknown. */
function readHost(
  source: ImportSource,
  holds: Inspection['holds'],
  record: FileRecord,
  options: ReadingOptions,
): string | undefined {
  const orders = options.dateOrder === null ? [null, ...DATE_ORDERS] : [options.dateOrder]
  for (const dateOrder of orders) {
    // The possible orders of dates are collected once.
    const asked = dateOrder === options.dateOrder ? options : { ...options, dateOrder, dateOrders: undefined }
    const reading = holds === 'links' ? toLink(source, record, asked) : toClick(source, record, asked)
    if (reading && 'value' in reading) return reading.value.host ?? undefined
  }
  return undefined
}

/** Collects the first values of each column. */
function createSamples(names: string[]) {
  const columns = new Map(names.slice(0, COLUMNS_MAX).map((name) => [name, [] as string[]]))
  return {
    add({ fields }: FileRecord) {
      for (const [name, samples] of columns) {
        if (samples.length >= SAMPLES) continue
        const value = fields.get(name)
        if (value === null || value === undefined || value === '') continue
        const text = typeof value === 'string' ? value : JSON.stringify(value)
        if (!samples.includes(text)) samples.push(text.slice(0, SAMPLE_MAX))
      }
    },
    list: () => [...columns].map(([name, samples]) => ({ name, samples })),
  }
}
