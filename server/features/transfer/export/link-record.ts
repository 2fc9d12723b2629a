// A link in exports: everything that an import restores, and nothing that helps anybody pass a password.

import { toReversibleCell } from '../../../lib/formats/csv-line.ts'
import type { LinkRow } from '../../links/link.ts'
import type { LinkResource } from '../../links/schema.ts'
import { joinTexts } from './joined-texts.ts'

export type LinkRecord = Omit<LinkResource, 'tags' | 'suspended' | 'suspendedReason'> & {
  /** The names of the link's tags. */
  tags: string[]
  /** Clicks without a hit; `clicks` includes them. */
  clicksBefore: number
}

export function toLinkRecord(resource: LinkResource, row: LinkRow): LinkRecord {
  const {
    suspended: _,
    suspendedReason: __,
    clicks,
    leads,
    lastClickedAt,
    createdAt,
    updatedAt,
    ...link
  } = resource
  return {
    ...link,
    tags: resource.tags.map(({ name }) => name),
    clicks,
    clicksBefore: row.clicks_before,
    leads,
    lastClickedAt,
    createdAt,
    updatedAt,
  }
}

/** The columns of a CSV file, in their order. */
export const LINK_COLUMNS = [
  'id',
  'slug',
  'domain',
  'shortUrl',
  'destinationUrl',
  'title',
  'comments',
  'tags',
  'externalId',
  'archived',
  'startsAt',
  'expiresAt',
  'expiredUrl',
  'clickLimit',
  'leadLimit',
  'passwordProtected',
  'forwardQuery',
  'trackConversions',
  'geoTargeting',
  'deviceTargeting',
  'redirectStatus',
  'previewTitle',
  'previewDescription',
  'previewImage',
  'clicks',
  'clicksBefore',
  'leads',
  'lastClickedAt',
  'createdAt',
  'updatedAt',
] as const satisfies (keyof LinkRecord)[]

/** A list of names is one cell, with commas; a table of targets is JSON, and `''` where it is empty. */
export const toLinkCells = (link: LinkRecord): string[] =>
  LINK_COLUMNS.map((name) => toReversibleCell(toCellText(link[name])))

function toCellText(value: LinkRecord[keyof LinkRecord]): string {
  if (value === null) return ''
  if (Array.isArray(value)) return joinTexts(value)
  if (typeof value !== 'object') return String(value)
  return Object.keys(value).length > 0 ? JSON.stringify(value) : ''
}
