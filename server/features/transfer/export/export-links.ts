// Exports links as a file, in the order of their ids. It reads some kilobytes at a time while the file is sent, so memory does
// not grow with the number of links.

import { toCsvLine } from '../../../lib/formats/csv-line.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import type { Actor } from '../../accounts/access/actor.ts'
import { type LinkRow, type Site, toLinkResources } from '../../links/link.ts'
import { filterLinks, readLinkRows } from '../../links/list.ts'
import { scanAllLinks } from '../../links/scan-links.ts'
import { LINK_COLUMNS, type LinkRecord, toLinkCells, toLinkRecord } from './link-record.ts'
import type { LinkExportQueryInput } from './schema.ts'

export interface LinkExportNeeds {
  db: Database
  site: Site
}

/** Each yielded text holds some rows. */
export async function* exportLinks(
  needs: LinkExportNeeds,
  actor: Actor,
  { format = 'csv', archived = 'all', ...filters }: LinkExportQueryInput,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const filtered = filterLinks(needs, actor, { ...filters, archived })
  if (format === 'csv') yield toCsvLine([...LINK_COLUMNS])
  for await (const positions of scanAllLinks(needs.db.read, actor, filtered, signal)) {
    for await (const rows of readLinkRows(needs.db.read, actor, positions)) {
      const links = await toLinkRecords(needs, rows)
      yield links.map((link) => toLine(link, format)).join('')
    }
  }
}

export async function toLinkRecords({ db, site }: LinkExportNeeds, rows: LinkRow[]): Promise<LinkRecord[]> {
  const resources = await toLinkResources(db.read, site, rows)
  return resources.map((resource, index) => toLinkRecord(resource, rows[index] as LinkRow))
}

const toLine = (link: LinkRecord, format: 'csv' | 'ndjson') =>
  format === 'csv' ? toCsvLine(toLinkCells(link)) : `${JSON.stringify(link)}\n`
