// Lines of CSV files (RFC 4180) whose cells stay text: a spreadsheet runs a text that begins with "=" as a formula
// (https://owasp.org/www-community/attacks/CSV_Injection). An apostrophe in front keeps it a text.

/** The full-width and small signs are the same to spreadsheets in Chinese, Japanese and Korean. */
const SIGNS = '[-=+@＝＋－＠﹦﹢﹣﹫]'
/** Blanks, control and format characters and quotes, which programs drop first. Without line ends. */
const BLANKS = String.raw`[\p{Z}\p{Cf}\x01-\x09\x0b\x0c\x0e-\x1f\x7f-\x9f"]*`

/**
 * A formula at the start of the text, or of a line in it: a program that does not know cells of several lines opens each
 * line as a row. For JavaScript and for RE2, without lookarounds.
 */
export const FORMULA_IN_LINE = String.raw`(^|[\r\n])(${BLANKS}${SIGNS})`
/** Some programs drop such a prefix, and then interpret the rest. */
export const DROPPED_START = String.raw`^([\t\r])`

/**
 * A number or a telephone number: programs compute at most with its digits, and an apostrophe would spoil it. For
 * JavaScript and for RE2, as a match of the whole text.
 */
export const NUMBER_CELL = String.raw`\p{Zs}*(?:[-+]?\d+(?:[.,'\p{Zs}]\d+)*(?:[eE][-+]?\d+)?%?|\+[(]?\d(?:[()\p{Zs}./-]*\d){4,24}(?:\p{Zs}*(?:ext\.?|x|#)\p{Zs}?\d{1,6})?)\p{Zs}*`

const number = new RegExp(`^(?:${NUMBER_CELL})$`, 'u')
const formulaInLine = new RegExp(FORMULA_IN_LINE, 'gu')
const droppedStart = new RegExp(DROPPED_START, 'u')

export const toInertCell = (text: string) =>
  number.test(text) ? text : text.replace(formulaInLine, "$1'$2").replace(droppedStart, "'$1")

const toCell = (text: string, delimiter: string) => {
  const inert = toInertCell(text)
  return /["\r\n]/.test(inert) || inert.includes(delimiter) ? `"${inert.replaceAll('"', '""')}"` : inert
}

export const toCsvLine = (cells: (string | number | null)[], delimiter = ',') =>
  `${cells.map((cell) => (cell === null ? '' : toCell(String(cell), delimiter))).join(delimiter)}\r\n`

const guardedLine = new RegExp(String.raw`(^|[\r\n])'('*${BLANKS}${SIGNS})`, 'gu')
const guardableLine = new RegExp(String.raw`(^|[\r\n])('*${BLANKS}${SIGNS})`, 'gu')
const guardableStart = /^('*[\t\r])/u
const guardedStart = /^'('*[\t\r])/u

/**
 * As `toInertCell`, for files that are imported again. Apostrophes that stand before a formula get one more, so that
 * `fromReversibleCell` can tell the text `'=1` from the text `=1`.
 */
export const toReversibleCell = (text: string) =>
  text.replace(guardableLine, "$1'$2").replace(guardableStart, "'$1")

export const fromReversibleCell = (cell: string) =>
  cell.replace(guardedStart, '$1').replace(guardedLine, '$1$2')
