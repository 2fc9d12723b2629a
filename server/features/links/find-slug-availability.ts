// Checks whether a slug is available, and says why not. The answer reveals no more than creating the link would: that
// a slug is taken, but not the workspace.

import type { Database } from '../../storage/database/open-database.ts'
import type { Actor } from '../accounts/access/actor.ts'
import { type Site, toDomainName } from './link.ts'
import { type LinkDomain, resolveDomain } from './names/link-domain.ts'
import type { SlugAvailability, SlugQueryInput } from './schema.ts'
import { findSlugProblem, isReserved, normalizeSlug, toSlugKey } from './slug.ts'

/** @throws Failure `invalid` for a domain that the workspace does not have */
export async function findSlugAvailability(
  { db, site }: { db: Pick<Database, 'read'>; site: Site },
  actor: Actor,
  query: SlugQueryInput,
): Promise<SlugAvailability> {
  const domain = await resolveDomain({ connection: db.read, site }, actor, query.domain)
  const slug = normalizeSlug(query.slug)
  const answer = (
    reason: SlugAvailability['reason'],
    message: string | null,
    linkId: number | null = null,
  ) => ({
    slug,
    domain: toDomainName(site, domain.name),
    available: reason === null,
    reason,
    message,
    linkId,
  })
  const problem = findSlugProblem(slug)
  if (problem !== undefined) return answer('invalid', problem)
  if (isReserved(site, domain.name, slug)) return answer('reserved', 'Slug is reserved')
  const link = await findHolder(db, actor, domain, slug)
  if (!link) return answer(null, null)
  if (link.workspace_id !== actor.workspaceId) return answer('taken', 'Slug already in use')
  if (link.deleted_at === null) return answer('taken', 'Slug already in use', link.id)
  return answer('trash', 'A link in the trash has this slug', link.id)
}

/** The same scope as the unique index: slugs of the default domain are shared by all workspaces. */
function findHolder(
  db: Pick<Database, 'read'>,
  { workspaceId }: Actor,
  { name, caseSensitive }: LinkDomain,
  slug: string,
) {
  return db.read
    .selectFrom('links')
    .select(['id', 'workspace_id', 'deleted_at'])
    .where('domain', '=', name)
    .where('slug_key', '=', toSlugKey(slug, caseSensitive))
    .where('purged_at', 'is', null)
    .$if(name !== '', (links) => links.where('workspace_id', '=', workspaceId))
    .executeTakeFirst()
}
