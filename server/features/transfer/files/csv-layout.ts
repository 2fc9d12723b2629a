// Detects the delimiter and the line ending of a CSV file.

import { CsvReader } from './csv-reader.ts'
import { type CsvLayout, FileProblem } from './source-file.ts'

const DELIMITERS = [',', ';', '\t', '|'] as const
const SAMPLE_CHARS = 64 * 1024

/** The delimiter that makes the most columns, most often the same number of them. A tie is for the comma. */
export function recognizeCsvLayout(text: string): CsvLayout {
  const sample = text.slice(0, SAMPLE_CHARS)
  // A file of an old Mac ends its rows with a carriage return alone.
  const lineEnd = !sample.includes('\n') && sample.includes('\r') ? '\r' : '\n'
  const said = /^sep=([,;\t|])\r?[\n\r]/.exec(sample)?.[1] as CsvLayout['delimiter'] | undefined
  if (said) return { delimiter: said, lineEnd }
  let best: CsvLayout = { delimiter: ',', lineEnd }
  let bestScore = 0
  for (const delimiter of DELIMITERS) {
    const score = scoreDelimiter({ delimiter, lineEnd }, sample)
    if (score > bestScore) {
      best = { delimiter, lineEnd }
      bestScore = score
    }
  }
  return best
}

function scoreDelimiter(layout: CsvLayout, sample: string): number {
  const reader = new CsvReader(layout)
  try {
    reader.write(sample)
    reader.write(layout.lineEnd)
  } catch (error) {
    if (!(error instanceof FileProblem)) throw error
    // Quotes that make no sense with this delimiter.
  }
  const columns = reader.columns?.length ?? 0
  if (columns < 2) return 0
  const { records } = reader
  const fitting = records.filter(({ problem }) => !problem).length
  return columns * ((fitting + 1) / (records.length + 1))
}
