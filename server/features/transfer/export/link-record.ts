// A link in exports: everything that an import restores, without the password and its hash.

import { toReversibleCell } from '../../../lib/formats/csv-line.ts'
import { toIsoOrNull } from '../../../lib/iso-time.ts'
import type { LinkRow } from '../../links/link.ts'
import type { LinkResource } from '../../links/schema.ts'
import { joinTexts } from './joined-texts.ts'

export type LinkRecord = Omit<LinkResource, 'tags' | 'ruleWarnings' | 'suspended' | 'suspendedReason'> & {
  /** The names of the link's tags. */
  tags: string[]
  splitStartedAt: string | null
  /** Clicks without a hit; `clicks` includes them. */
  clicksBefore: number
}

export function toLinkRecord(resource: LinkResource, row: LinkRow): LinkRecord {
  const {
    ruleWarnings: _,
    suspended: __,
    suspendedReason: ___,
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
    splitStartedAt: toIsoOrNull(row.split_started_at),
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
  // The newest columns come last, so that the others keep their positions.
  'rules',
  'extraPath',
  'split',
  'splitEndsAt',
  'publicStats',
] as const satisfies (keyof LinkRecord)[]

/** A list of names is one cell, with commas; targets and rules are JSON, or `''` if there are none. */
export const toLinkCells = (link: LinkRecord): string[] =>
  LINK_COLUMNS.map((name) =>
    toReversibleCell(name === 'tags' ? joinTexts(link.tags) : toCellText(link[name])),
  )

function toCellText(value: LinkRecord[keyof LinkRecord]): string {
  if (value === null) return ''
  if (typeof value !== 'object') return String(value)
  return Object.keys(value).length > 0 ? JSON.stringify(value) : ''
}
