// The task `check`: reads both files completely, so that a broken file changes nothing.

import { DateOrders } from '../../files/date-orders.ts'
import { readRecords } from '../../files/read-records.ts'
import type { TimeOptions } from '../../files/read-time.ts'
import { FileProblem, type FileRecord, type RecordPlace, type SourceFile } from '../../files/source-file.ts'
import { toClick, toLink } from '../../sources/read-record.ts'
import type { ImportSource, Reading, SourceLink } from '../../sources/source.ts'
import type { CheckTask, TaskFunction } from '../protocol.ts'
import { getSource, mayHaveClicks, openClickFile, openLinkFile } from './open-links.ts'

const REPORT_EVERY_MS = 1000

export const checkFiles: TaskFunction<'check'> = async (input, send) => {
  const source = getSource(input.source)
  const file = await openLinkFile(source, input.file)
  source.checkMapping?.(file, input.options.mapping)
  const clickFile = await findClickFile(source, file, input)
  const report = createReport(send)
  const links = await countReadings(file, source.links, input.options, report, (record, options) =>
    toLink(source, record, options),
  )
  if (links.rows === 0) throw new FileProblem(`The file has no links of ${source.title}.`)
  const clicks =
    clickFile && source.clicks
      ? await countReadings(clickFile, source.clicks, input.options, report, (record, options) =>
          toClick(source, record, options),
        )
      : null
  return {
    ...links,
    // A dump without a table of clicks has no history.
    clicks: clicks && (input.clicks || clicks.rows > 0) ? clicks : null,
  }
}

const findClickFile = async (source: ImportSource, file: SourceFile, { clicks }: CheckTask) =>
  clicks ? openClickFile(source, clicks) : mayHaveClicks(source, file) ? file : null

/** @throws FileProblem if dates are ambiguous or contradictory */
export async function countReadings<Options extends TimeOptions>(
  file: SourceFile,
  place: RecordPlace,
  options: Options,
  report: () => Promise<void>,
  read: (record: FileRecord, options: Options) => Reading<unknown>,
) {
  const dateOrders = new DateOrders()
  let rows = 0
  let items = 0
  for await (const records of readRecords(file, place)) {
    for (const record of records) {
      dateOrders.row = record.row
      const reading = read(record, { ...options, dateOrders })
      if (reading === null) continue
      rows++
      items += 1 + countAliases(reading)
    }
    await report()
  }
  if (options.dateOrder === null) requireOneOrder(dateOrders)
  return { rows, items, dateOrder: options.dateOrder ?? dateOrders.decided }
}

/** Counts the additional links of a link with several slugs. */
const countAliases = (reading: Exclude<Reading<unknown>, null>) =>
  'value' in reading ? ((reading.value as Partial<SourceLink>).aliases?.length ?? 0) : 0

function requireOneOrder({ ambiguous, contradiction }: DateOrders): void {
  if (contradiction)
    throw new FileProblem(
      `Dates have different orders: "${contradiction.first.text}" in row ${contradiction.first.row} and ` +
        `"${contradiction.second.text}" in row ${contradiction.second.row}. Write them in one order, such as 2025-11-03.`,
    )
  if (ambiguous)
    throw new FileProblem(
      `Row ${ambiguous.row}, ${ambiguous.field}: "${ambiguous.text}" could mean two days. Say the order of dates as dateOrder: dmy, mdy or ymd.`,
    )
}

/** Reports each second that the task still runs. The number of rows is unknown. */
export function createReport(send: (batch: null) => Promise<null>): () => Promise<void> {
  let next = performance.now() + REPORT_EVERY_MS
  return async () => {
    if (performance.now() < next) return
    next = performance.now() + REPORT_EVERY_MS
    await send(null)
  }
}
