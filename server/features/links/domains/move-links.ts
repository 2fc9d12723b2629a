// Moves all links of a domain to another one, some at a time, so that redirects and other writes go on. Slugs that the other
// domain cannot have are found before the first link moves.

import { type RawBuilder, sql } from 'kysely'
import { takeTurn } from '../../../lib/concurrency/take-turn.ts'
import { Failure, invalid } from '../../../lib/failure.ts'
import { isUniqueViolation } from '../../../storage/database/errors.ts'
import type { Connection } from '../../../storage/database/open-database.ts'
import { recordChange } from '../../../storage/database/record-change.ts'
import { type Actor, allow, hasScopes } from '../../accounts/access/actor.ts'
import { refuseSuspendedLink } from '../rules.ts'
import { isReserved, toSlugKey } from '../slug.ts'
import type { DomainNeeds, DomainRow } from './domain.ts'
import { selectLinksAfter } from './domain-links.ts'

/** One write of SQLite holds up all others. */
const LINKS_AT_ONCE = 200
const CONFLICTS_NAMED = 10

/** Where links move to. */
export interface MoveTarget {
  /** In the form of `links.domain`. */
  domain: string
  /** In the form that people write. */
  name: string
  caseSensitive: boolean
}

/** @param moveTo the id of a domain, or `default` @throws Failure `invalid` */
export async function findMoveTarget(
  { db, site }: Pick<DomainNeeds, 'db' | 'site'>,
  actor: Actor,
  from: DomainRow,
  moveTo: string,
): Promise<MoveTarget> {
  if (moveTo === 'default') return { domain: '', name: site.domain, caseSensitive: false }
  if (Number(moveTo) === from.id) throw invalid({ moveTo: 'must be another domain than the removed one' })
  const row = await db.read
    .selectFrom('domains')
    .select(['domain', 'verified_at', 'case_sensitive'])
    .where('workspace_id', '=', actor.workspaceId)
    .where('id', '=', Number(moveTo))
    .executeTakeFirst()
  if (!row) throw invalid({ moveTo: 'is not a domain of this workspace' })
  if (row.verified_at === null) throw invalid({ moveTo: 'must be a verified domain' })
  return { domain: row.domain, name: row.domain, caseSensitive: row.case_sensitive === 1 }
}

/** @returns how many have moved. @throws Failure `conflict`, `forbidden` for a suspended link */
export async function moveLinks(
  needs: Pick<DomainNeeds, 'db' | 'site' | 'now'>,
  actor: Actor,
  from: DomainRow,
  to: MoveTarget,
): Promise<number> {
  allow(actor, 'domains:delete')
  await refuseConflicts(needs, actor, from, to)
  let moved = 0
  // Each step starts at the end of the last one: PostgreSQL would otherwise reread moved rows until the next vacuum.
  for (let after: string | undefined = ''; after !== undefined; ) {
    await takeTurn()
    const step = await moveSome(needs, from, to, after)
    moved += step.length
    after = step.length < LINKS_AT_ONCE ? undefined : step.at(-1)?.slug_key
  }
  return moved
}

interface MovingLink {
  slug: string
  slug_key: string
  suspended_at: number | null
}

/** Reads all links once. @throws Failure `conflict` that names the first slugs, `forbidden` */
async function refuseConflicts(
  { db, site }: Pick<DomainNeeds, 'db' | 'site'>,
  actor: Actor,
  from: DomainRow,
  to: MoveTarget,
): Promise<void> {
  const isFolded = from.case_sensitive === 1 && !to.caseSensitive
  const seen = new Set<string>()
  const conflicts: string[] = []
  for (let after = ''; conflicts.length < CONFLICTS_NAMED; ) {
    await takeTurn()
    const links = await selectLinksAfter(db.read, from, after)
      .select(['slug', 'slug_key', 'suspended_at'])
      .limit(LINKS_AT_ONCE)
      .execute()
    for (const link of links) refuseSuspendedLink(link)
    const taken = await listTakenKeys(db.read, from, to, links)
    for (const { slug } of links) {
      const key = toSlugKey(slug, to.caseSensitive)
      if (taken.has(key) || seen.has(key) || isReserved(site, to.domain, slug)) conflicts.push(`/${slug}`)
      // "Sale" and "sale" may both be here, and one of them there.
      if (isFolded) seen.add(key)
    }
    if (links.length < LINKS_AT_ONCE) break
    after = links.at(-1)?.slug_key ?? after
  }
  if (conflicts.length > 0) throw moveConflict(actor, to, conflicts)
}

function moveConflict(actor: Actor, { name }: MoveTarget, conflicts: string[]) {
  if (!hasScopes(actor, 'links:read'))
    return new Failure('conflict', 'Nothing was moved: the other domain has no room for some slugs.')
  const named = conflicts.slice(0, CONFLICTS_NAMED).join(', ')
  const more = conflicts.length > CONFLICTS_NAMED ? ' and others' : ''
  return new Failure(
    'conflict',
    `Nothing was moved: ${name} has no room for ${named}${more}. Change or delete these links first.`,
  )
}

/** On the default domain, another workspace may have a slug. */
async function listTakenKeys(connection: Connection, from: DomainRow, to: MoveTarget, links: MovingLink[]) {
  const keys = links.map(({ slug }) => toSlugKey(slug, to.caseSensitive))
  if (keys.length === 0) return new Set<string>()
  const rows = await connection
    .selectFrom('links')
    .select('slug_key')
    .where('domain', '=', to.domain)
    .where('slug_key', 'in', keys)
    .where('purged_at', 'is', null)
    .where((e) => (to.domain === '' ? e.lit(true) : e('workspace_id', '=', from.workspace_id)))
    .execute()
  return new Set(rows.map(({ slug_key }) => slug_key))
}

/** @returns the moved links with their old values */
async function moveSome(
  { db, now }: Pick<DomainNeeds, 'db' | 'now'>,
  from: DomainRow,
  to: MoveTarget,
  after: string,
): Promise<MovingLink[]> {
  try {
    return await db.write(async (connection, onCommit) => {
      const links = await selectLinksAfter(connection, from, after)
        .select(['id', 'slug', 'slug_key', 'suspended_at'])
        .limit(LINKS_AT_ONCE)
        .execute()
      for (const link of links) refuseSuspendedLink(link)
      const keyOf = ({ slug }: MovingLink) => toSlugKey(slug, to.caseSensitive)
      const moved = { domain: to.domain, updated_at: toLaterVersion(now()) }
      // One statement for all links with an unchanged key, which are nearly all.
      const same = links.filter((link) => keyOf(link) === link.slug_key).map(({ id }) => id)
      if (same.length > 0) await updateLinks(connection, from, same, moved)
      for (const link of links)
        if (keyOf(link) !== link.slug_key)
          await updateLinks(connection, from, [link.id], { ...moved, slug_key: keyOf(link) })
      for (const link of links)
        recordChange(
          onCommit,
          { domain: from.domain, slugKey: link.slug_key },
          { domain: to.domain, slugKey: keyOf(link) },
        )
      return links
    })
  } catch (error) {
    if (!isUniqueViolation(error, { index: 'links_domain_slug', columns: ['domain', 'slug_key'] }))
      throw error
    throw new Failure(
      'conflict',
      `The other domain now has a link with one of the slugs. Other links have moved: repeat the request.`,
    )
  }
}

/** Like `toNextVersion` for one link. */
const toLaterVersion = (now: number) =>
  sql<number>`case when updated_at < ${now} then ${now} else updated_at + 1 end`

interface MovedColumns {
  domain: string
  updated_at: RawBuilder<number>
  slug_key?: string
}

/** Leaves out a link that another person has moved meanwhile. */
const updateLinks = (connection: Connection, from: DomainRow, ids: number[], columns: MovedColumns) =>
  connection
    .updateTable('links')
    .set(columns)
    .where('workspace_id', '=', from.workspace_id)
    .where('domain', '=', from.domain)
    .where('id', 'in', ids)
    .execute()
