// All sources of links, and the detection of a file's source.

import type { SourceFile } from '../files/source-file.ts'
import type { ImportSourceName } from '../schema.ts'
import { bitly } from './bitly.ts'
import { csv } from './csv.ts'
import { dub } from './dub/dub.ts'
import { kutt } from './kutt.ts'
import { rebrandly } from './rebrandly.ts'
import { shlink } from './shlink/shlink.ts'
import { shortIo } from './short-io.ts'
import { sink } from './sink.ts'
import type { ImportSource } from './source.ts'
import { towpath } from './towpath.ts'
import { yourls } from './yourls.ts'

/** In the order of detection. `csv` accepts any table, so it is the last. */
const SOURCES: ImportSource[] = [towpath, bitly, rebrandly, shortIo, sink, dub, shlink, yourls, kutt, csv]

export const findSource = (name: ImportSourceName): ImportSource | undefined =>
  SOURCES.find((source) => source.name === name)

export interface Recognition {
  source: ImportSource
  /** The content of the file. An SQL dump can have both. */
  has: 'links' | 'clicks' | 'both'
  /** The columns of its links, or of its clicks if it has no links. */
  columns: string[]
}

/** @returns null if no source knows the columns of the file */
export function recognizeSource(file: SourceFile): Recognition | null {
  for (const source of SOURCES) {
    const links = file.tables.find(({ columns }) => source.isLinkFile(columns))
    const clicks = file.tables.find(({ columns }) => source.isClickFile?.(columns) ?? false)
    if (links) return { source, has: clicks ? 'both' : 'links', columns: links.columns }
    if (clicks) return { source, has: 'clicks', columns: clicks.columns }
  }
  return null
}
