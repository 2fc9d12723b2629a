// Exports of links: their formats and filters.

import { z } from '@hono/zod-openapi'
import { oneOf } from '../../../lib/api-fields.ts'
import { LinkListQuery } from '../../links/schema.ts'

export const LINK_EXPORT_FORMATS = ['csv', 'ndjson'] as const

const { search, tagId, domain, externalId } = LinkListQuery.shape

/** The filters of the list. Without a filter, all links are exported, archived ones too, but not those in the trash. */
export const LinkExportQuery = z.strictObject({
  format: oneOf(LINK_EXPORT_FORMATS).optional().openapi({ description: 'csv when absent' }),
  search,
  tagId,
  domain,
  archived: oneOf(['true', 'false', 'all']).optional().openapi({ description: 'all when absent' }),
  externalId,
})
export type LinkExportQueryInput = z.infer<typeof LinkExportQuery>
