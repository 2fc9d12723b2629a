// Making a link: pick or check the slug, store it with its tags, tell the cache.

import { hashPassword } from '../../lib/password.ts'
import type { Db, OnCommit, Rows } from '../../storage/rows/open.ts'
import { type Actor, allow } from '../accounts/actor.ts'
import type { LinkCache } from './cache.ts'
import { conflict } from './conflict.ts'
import { type LinkRow, linkResource, type Site } from './link.ts'
import {
  checkPeriod,
  checkReserved,
  ownDomain,
  REDIRECT_STATUS,
  searchText,
  settableColumns,
} from './rules.ts'
import type { CreateLinkInput, LinkResource } from './schema.ts'
import { randomSlug, slugKey } from './slug.ts'
import { tagLink } from './tag-link.ts'

export interface LinkNeeds {
  rows: Rows
  cache: LinkCache
  site: Site
  now: () => number
}

// 31^7 slugs: even with a hundred million taken, ten tries in a row fail once in 10^24.
const RANDOM_TRIES = 10

/** @throws Failure `conflict` (slug or external id), `invalid` */
export async function createLink(
  needs: LinkNeeds,
  actor: Actor,
  input: CreateLinkInput,
): Promise<LinkResource> {
  const passwordHash = await hashPassword(input.password)
  return needs.rows.write((db, onCommit) => createLinkIn(needs, db, onCommit, actor, input, passwordHash))
}

/** The same inside a transaction that is already open; the password is hashed before, since hashing takes long. */
export async function createLinkIn(
  { rows, cache, site, now }: LinkNeeds,
  db: Db,
  onCommit: OnCommit,
  actor: Actor,
  input: CreateLinkInput,
  passwordHash: string | null | undefined,
): Promise<LinkResource> {
  allow(actor, 'links:write')
  const domain = ownDomain(site, input.domain)
  if (input.slug !== undefined) checkReserved(site, domain, input.slug)
  const columns = { ...DEFAULTS, ...settableColumns(site, input, undefined) }
  checkPeriod(columns.starts_at, columns.expires_at)
  const at = now()
  for (let tries = input.slug === undefined ? RANDOM_TRIES : 1; tries > 0; tries--) {
    const slug = input.slug ?? randomSlug()
    const row = await insertLink(db, {
      ...columns,
      workspace_id: actor.workspaceId,
      domain,
      slug,
      password_hash: passwordHash ?? null,
      created_at: at,
      updated_at: at,
    })
    if (row) {
      await tagLink(rows, db, actor, row.id, input, at)
      onCommit(() => cache.forget(domain, slug))
      return linkResource(db, site, row)
    }
    if (await externalIdTaken(db, actor, columns.external_id)) {
      throw conflict('External id already in use')
    }
  }
  throw conflict('Slug already in use')
}

type Columns = Omit<
  LinkRow,
  'id' | 'slug_key' | 'search_text' | 'clicks_used' | 'clicks' | 'leads' | 'last_clicked_at' | 'deleted_at'
>

/** A link of which only the destination is known. */
const DEFAULTS: Omit<
  Columns,
  'workspace_id' | 'domain' | 'slug' | 'password_hash' | 'created_at' | 'updated_at'
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
  redirect_status: REDIRECT_STATUS,
}

/** The database decides: no row back means that the slug, or the external id, is taken. */
function insertLink(db: Db, link: Columns) {
  return db
    .insertInto('links')
    .values({
      ...link,
      slug_key: slugKey(link.slug),
      search_text: searchText(link),
      clicks_used: 0,
      clicks: 0,
      leads: 0,
      last_clicked_at: null,
      deleted_at: null,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst()
}

async function externalIdTaken(db: Db, actor: Actor, externalId: string | null): Promise<boolean> {
  if (externalId === null) return false
  const row = await db
    .selectFrom('links')
    .select('id')
    .where('workspace_id', '=', actor.workspaceId)
    .where('external_id', '=', externalId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  return row !== undefined
}
