// Creates a link with its tags. Without a slug in the request, the link gets a random one.

import { hashPassword } from '../../lib/crypto/password.ts'
import type { Connection, Database, OnCommit } from '../../storage/database/open-database.ts'
import { recordChange } from '../../storage/database/record-change.ts'
import { type Actor, allow } from '../accounts/access/actor.ts'
import { announceLink } from './announce-link.ts'
import { linkConflict } from './conflict.ts'
import { type LinkRow, type Site, toLinkResource } from './link.ts'
import { type LinkDomain, resolveDomain } from './names/link-domain.ts'
import {
  checkPeriod,
  checkReserved,
  DEFAULT_EXTRA_PATH,
  DEFAULT_REDIRECT_STATUS,
  refusePastEnd,
  toLinkColumns,
  toSplitColumns,
} from './rules.ts'
import type { CreateLinkInput, LinkResource } from './schema.ts'
import { toSearchText } from './search.ts'
import { setLinkTags } from './set-link-tags.ts'
import { generateSlug, toSlugKey } from './slug.ts'

export interface LinkNeeds {
  db: Database
  site: Site
  now: () => number
}

// There are 31^7 slugs. When a hundred million are in use, ten random tries in a row fail once in 10^24 requests.
const RANDOM_TRIES = 10

/** An open transaction that writes links. */
export interface LinkTransaction extends LinkNeeds {
  connection: Connection
  onCommit: OnCommit
}

/** @throws Failure `conflict` (slug or external id), `invalid` */
export async function createLink(
  needs: LinkNeeds,
  actor: Actor,
  input: CreateLinkInput,
): Promise<LinkResource> {
  const passwordHash = await hashPassword(input.password, 'links')
  return needs.db.write((connection, onCommit) =>
    createLinkIn({ ...needs, connection, onCommit }, actor, input, passwordHash),
  )
}

/**
 * Does the same inside an open transaction. @param passwordHash is computed before the transaction, because it takes
 * long @param createdAt of a link that another tool has made
 */
export async function createLinkIn(
  transaction: LinkTransaction,
  actor: Actor,
  input: CreateLinkInput,
  passwordHash: string | null | undefined,
  createdAt?: number,
): Promise<LinkResource> {
  allow(actor, 'links:write')
  const { db, connection, onCommit, site, now } = transaction
  const domain = await resolveDomain({ connection, site, lockOn: db.engine }, actor, input.domain)
  if (input.slug !== undefined) checkReserved(site, domain.name, input.slug)
  const columns = { ...DEFAULTS, ...toLinkColumns(site, input, undefined) }
  checkPeriod(columns.starts_at, columns.expires_at)
  const at = now()
  if (createdAt === undefined) refusePastEnd(actor, columns.expires_at, at)
  Object.assign(columns, toSplitColumns(DEFAULTS, columns, at))
  for (let tries = input.slug === undefined ? RANDOM_TRIES : 1; tries > 0; tries--) {
    const slug = input.slug ?? generateSlug()
    const row = await insertLink(connection, {
      ...columns,
      workspace_id: actor.workspaceId,
      ...toSlugColumns(domain, slug),
      password_hash: passwordHash ?? null,
      created_at: createdAt ?? at,
      updated_at: at,
    })
    if (row) {
      await setLinkTags(transaction, actor, row.id, input, at)
      // Caches may know that no link has the slug.
      recordChange(onCommit, { domain: row.domain, slugKey: row.slug_key })
      const link = await toLinkResource(connection, site, row)
      // An import brings thousands of links that other programs have already.
      if (createdAt === undefined) {
        const event = { workspaceId: actor.workspaceId, event: 'link.created', at } as const
        await announceLink(transaction, event, () => link)
      }
      return link
    }
    if (await isExternalIdInUse(connection, actor, columns.external_id)) {
      throw linkConflict('External id already in use')
    }
  }
  throw linkConflict('Slug already in use')
}

type NewLinkColumns = Omit<
  LinkRow,
  | 'id'
  | 'search_text'
  | 'clicks_used'
  | 'clicks'
  | 'leads'
  | 'last_clicked_at'
  | 'deleted_at'
  | 'purged_at'
  | 'suspended_at'
  | 'suspended_reason'
>

/** The columns of a link that has only a destination. */
const DEFAULTS: Omit<
  NewLinkColumns,
  'workspace_id' | 'domain' | 'slug' | 'slug_key' | 'password_hash' | 'created_at' | 'updated_at'
> = {
  destination_url: '',
  title: null,
  comments: null,
  external_id: null,
  archived: 0,
  starts_at: null,
  expires_at: null,
  expired_url: null,
  click_limit: null,
  lead_limit: null,
  forward_query: 0,
  track_conversions: 0,
  geo_targeting: '{}',
  device_targeting: '{}',
  rules: '[]',
  extra_path: DEFAULT_EXTRA_PATH,
  public_stats: 0,
  split: null,
  split_started_at: null,
  split_ends_at: null,
  split_result: null,
  redirect_status: DEFAULT_REDIRECT_STATUS,
  preview_title: null,
  preview_description: null,
  preview_image: null,
  clicks_before: 0,
}

/** Where a link answers. */
export const toSlugColumns = ({ name, caseSensitive }: LinkDomain, slug: string) => ({
  domain: name,
  slug,
  slug_key: toSlugKey(slug, caseSensitive),
})

/** @returns undefined when the slug or the external id is in use; a unique index decides */
function insertLink(connection: Connection, link: NewLinkColumns) {
  return connection
    .insertInto('links')
    .values({
      ...link,
      search_text: toSearchText(link),
      clicks_used: 0,
      clicks: 0,
      leads: 0,
      last_clicked_at: null,
      deleted_at: null,
      purged_at: null,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst()
}

async function isExternalIdInUse(
  connection: Connection,
  actor: Actor,
  externalId: string | null,
): Promise<boolean> {
  if (externalId === null) return false
  const row = await connection
    .selectFrom('links')
    .select('id')
    .where('workspace_id', '=', actor.workspaceId)
    .where('external_id', '=', externalId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  return row !== undefined
}
