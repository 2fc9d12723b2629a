// The slugs and short URLs of the links that brought submissions.

import { toShortUrl } from '../../../lib/web-url.ts'
import type { Connection } from '../../../storage/database/open-database.ts'

interface LinkName {
  slug: string
  shortUrl: string
}

/** @returns names by link id. A deleted link keeps its name. */
export async function findLinkNames(
  connection: Connection,
  { workspaceId, origin }: { workspaceId: number; origin: string },
  ids: number[],
): Promise<Map<number, LinkName>> {
  if (ids.length === 0) return new Map()
  const links = await connection
    .selectFrom('links')
    .select(['id', 'slug', 'domain'])
    .where('workspace_id', '=', workspaceId)
    .where('id', 'in', ids)
    .execute()
  return new Map(
    links.map(({ id, slug, domain }) => [id, { slug, shortUrl: toShortUrl({ origin }, { domain, slug }) }]),
  )
}
