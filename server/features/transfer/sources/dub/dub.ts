// Dub: its CSV exports of links and of events, and the JSON of its API. The formats: fixtures/dub/README.md.

import type { ImportSource } from '../source.ts'
import { OTHER_EVENTS, readDubClick } from './dub-click.ts'
import { readDubLink } from './dub-link.ts'

/** The columns that the export had from July 2024 to October 2025: names of the database. */
const LINK_COLUMNS_2024 = [
  'link',
  'domain',
  'key',
  'id',
  'url',
  'clicks',
  'createdAt',
  'updatedAt',
  'tags',
  'archived',
]
/** The possible columns of events. A file has only those that the table in Dub shows. */
const EVENT_COLUMNS = new Set([
  'Date',
  'Event',
  'Link',
  'Destination URL',
  'Country',
  'City',
  'Region',
  'Continent',
  'Device',
  'Browser',
  'OS',
  'Referrer',
  'Referer',
  'Referrer URL',
  'RefererUrl',
  'Click ID',
  'ClickId',
  'Ip',
  'IP Address',
  ...OTHER_EVENTS,
])

export const dub: ImportSource = {
  name: 'dub',
  title: 'Dub',
  links: { lists: ['links', 'data'], tables: [] },
  clicks: { lists: ['events', 'data'], tables: [] },
  // Dub has a few case-sensitive domains, and ignores the case of slugs on all others.
  isCaseSensitive: false,
  isLinkFile: (columns) =>
    hasAll(columns, 'Short link', 'Destination URL') || isOldExport(columns) || isApiLink(columns),
  isClickFile: (columns) =>
    hasAll(columns, 'event', 'click', 'link') ||
    (hasAll(columns, 'Date', 'Link') && columns.every((column) => EVENT_COLUMNS.has(column))),
  readLink: readDubLink,
  readClick: readDubClick,
}

const hasAll = (columns: string[], ...names: string[]) => names.every((name) => columns.includes(name))

const isApiLink = (columns: string[]) =>
  hasAll(columns, 'id', 'domain', 'key', 'url') &&
  columns.some((column) => ['shortLink', 'projectId'].includes(column))

/** Other tables have `link` and `url` too, so all columns must be Dub's, with at least one unmistakable name. */
const isOldExport = (columns: string[]) =>
  hasAll(columns, 'link', 'url') &&
  columns.some((column) => column === 'createdAt' || column === 'updatedAt') &&
  columns.every((column) => LINK_COLUMNS_2024.includes(column))
