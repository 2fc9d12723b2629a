// Writes rows as a workbook of Excel (XLSX, ECMA-376), one after the other, so that memory does not grow with their number.

import type { TableCell } from './csv.ts'

/** Excel takes no more characters in a cell. */
const CELL_MAX = 32_767
const TIME_FORMAT = 'yyyy-mm-dd hh:mm:ss'
const TIME_WIDTH = 19

/**
 * @param rows of cells that have a type: a text stays one, also where it looks like a formula or a number
 * @param timeHeaders the headers of the columns with times
 */
export async function* writeWorkbook(
  headers: string[],
  rows: AsyncGenerator<TableCell[]>,
  timeHeaders: readonly string[],
): AsyncGenerator<Uint8Array> {
  // Loaded with the first workbook, so that other servers need no memory for it.
  const { writeXlsxStream } = await import('hucre/xlsx')
  const columns = headers.map((header) => ({
    header: toCell(header),
    ...(timeHeaders.includes(header) && { numFmt: TIME_FORMAT, width: TIME_WIDTH }),
  }))
  const options = { name: 'Submissions', columns, freezePane: { rows: 1 } }
  yield* writeXlsxStream(withCells(rows), options)
}

async function* withCells(rows: AsyncGenerator<TableCell[]>): AsyncGenerator<TableCell[]> {
  for await (const row of rows) yield row.map((cell) => (typeof cell === 'string' ? toCell(cell) : cell))
}

/** Removes what XML cannot hold, keeps `_x0041_` from being read as an escape, and cuts what Excel would refuse. */
function toCell(text: string): string {
  const clean = text.replace(/\r\n?/g, '\n').replace(/(?![\t\n])[\p{Cc}\ufffe\uffff]/gu, '')
  const cut = clean.length > CELL_MAX ? `${clean.slice(0, CELL_MAX - 1).toWellFormed()}…` : clean
  return cut.replace(/_(?=x[0-9a-f]{4}_)/gi, '_x005F_')
}
