// One line of a CSV file (RFC 4180) whose cells stay text in a spreadsheet.

/**
 * A spreadsheet takes a cell with such a start for a formula, also after white space, and in the full-width forms of the
 * signs. An apostrophe in front makes it text: https://owasp.org/www-community/attacks/CSV_Injection
 */
const FORMULA = /^[\s\p{C}]*[=+\-@＝＋－＠]|^[\t\r]/u

const toCell = (text: string) => {
  const inert = FORMULA.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert
}

export const toCsvLine = (cells: (string | number | null)[]) =>
  `${cells.map((cell) => (cell === null ? '' : toCell(String(cell)))).join()}\r\n`
