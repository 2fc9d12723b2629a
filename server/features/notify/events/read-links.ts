// Reads the links that events name: for filters, and for what an event says about its link.

import { toShortUrl } from '../../../lib/web-url.ts'
import type { Connection } from '../../../storage/database/open-database.ts'

export interface EventLink {
  id: number
  slug: string
  domain: string
  shortUrl: string
  destinationUrl: string
  title: string | null
  externalId: string | null
  tags: { id: number; name: string; color: string }[]
}

export interface LinkOwner {
  workspaceId: number
  /** `https://go.example`, before the slug of a link without a domain of its own. */
  origin: string
}

/** @returns links by id. A deleted link keeps its name and tags */
export async function readEventLinks(
  connection: Connection,
  { workspaceId, origin }: LinkOwner,
  ids: number[],
): Promise<Map<number, EventLink>> {
  if (ids.length === 0) return new Map()
  const rows = await connection
    .selectFrom('links')
    .select(['id', 'slug', 'domain', 'destination_url', 'title', 'external_id'])
    .where('workspace_id', '=', workspaceId)
    .where('id', 'in', ids)
    .execute()
  const links = new Map(
    rows.map(({ id, slug, domain, destination_url, title, external_id }): [number, EventLink] => [
      id,
      {
        id,
        slug,
        domain: domain || new URL(origin).host,
        shortUrl: toShortUrl({ origin }, { domain, slug }),
        destinationUrl: destination_url,
        title,
        externalId: external_id,
        tags: [],
      },
    ]),
  )
  const tags = await connection
    .selectFrom('link_tags')
    .innerJoin('tags', 'tags.id', 'link_tags.tag_id')
    .select(['link_tags.link_id', 'tags.id', 'tags.name', 'tags.color'])
    .where('link_tags.workspace_id', '=', workspaceId)
    .where('link_tags.link_id', 'in', ids)
    .orderBy('tags.name_key')
    .execute()
  for (const { link_id, ...tag } of tags) links.get(link_id)?.tags.push(tag)
  return links
}
