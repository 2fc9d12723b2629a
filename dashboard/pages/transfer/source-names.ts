// The tools that can be imported, spelled as their makers do, with the place where each exports its files.

import type { ImportSourceName, LinkSourceName } from '../../api/transfer/imports.ts'
import { t } from '../../ui/text.ts'

interface SourceInfo {
  title: string
  /** The name of the export file. */
  file: string
  /** The label of the second file; absent where the tool exports no history, or has it in the same file. */
  clicks?: string
}

export const SOURCES: Record<LinkSourceName, SourceInfo> = {
  bitly: {
    title: 'Bitly',
    file: 'A CSV report of your links, or the answer of Bitly’s API (/v4/groups/…/bitlinks) as JSON.',
  },
  dub: {
    title: 'Dub',
    file: 'The CSV that Dub exports from the list of links. Export all columns.',
    clicks: 'The CSV of click events that Dub exports from its analytics.',
  },
  'short.io': { title: 'Short.io', file: 'The answer of Short.io’s API (/api/links) as JSON, or its CSV.' },
  rebrandly: { title: 'Rebrandly', file: 'The answer of Rebrandly’s API (/v1/links) as JSON, or its CSV.' },
  shlink: {
    title: 'Shlink',
    file: 'The CSV that Shlink’s web client exports, or the answer of its API as JSON.',
    clicks: 'The CSV of visits that Shlink’s web client exports.',
  },
  yourls: {
    title: 'YOURLS',
    file: 'An SQL dump with the tables yourls_url and yourls_log. It has the click history in it. Or the table of links as CSV.',
    clicks: 'The table of clicks (yourls_log) as CSV. An SQL dump needs no second file.',
  },
  kutt: { title: 'Kutt', file: 'The answer of Kutt’s API (/api/v2/links) as JSON.' },
  sink: { title: 'Sink', file: 'The JSON that Sink’s dashboard exports.' },
  csv: { title: 'A CSV file', file: 'Any spreadsheet, saved as CSV. You map the columns.' },
  towpath: {
    title: 'Towpath',
    file: 'An export from Towpath: links as CSV or NDJSON, or a whole workspace as a zip file.',
  },
}

/** In the order of the dialog. */
export const IMPORT_SOURCE_NAMES = Object.keys(SOURCES) as LinkSourceName[]

export const toSourceTitle = (source: ImportSourceName) =>
  source === 'submissions' ? 'Form submissions' : SOURCES[source].title

/** In a sentence: `from Dub`, `from a CSV file`. */
export function toSourcePhrase(source: ImportSourceName): string {
  if (source === 'submissions') return t('another form service')
  return source === 'csv' ? 'a CSV file' : SOURCES[source].title
}
