// Loads the names of links, tags and forms for answers. A deleted link keeps its name.

import { createPacer } from '../../lib/concurrency/next-turn.ts'
import { takeTurn } from '../../lib/concurrency/take-turn.ts'
import type { Database } from '../../storage/database/database.ts'
import type { AnswerContext, WorkspaceScope } from './resolve-selection.ts'

export interface LinkName {
  /** null: no link. */
  link: number | null
  slug: string | null
  domain: string | null
  destinationUrl: string | null
  deleted: boolean
}

export async function loadLinkNames(
  { db, defaultDomain }: AnswerContext,
  { workspaceId }: WorkspaceScope,
  ids: number[],
) {
  const links =
    ids.length === 0
      ? []
      : await db.read
          .selectFrom('links')
          .select(['id', 'slug', 'domain', 'destination_url', 'deleted_at'])
          .where('workspace_id', '=', workspaceId)
          .where('id', 'in', ids)
          .execute()
  const linksById = new Map(links.map((link) => [link.id, link]))
  return (id: number) => {
    const link = linksById.get(id)
    return {
      link: id,
      slug: link?.slug ?? null,
      domain: link ? link.domain || defaultDomain : null,
      destinationUrl: link?.destination_url ?? null,
      deleted: !link || link.deleted_at !== null,
    }
  }
}

/** A read of SQLite holds the event loop, so it reads at most this many rows. */
const ROWS_AT_ONCE = 2_000

export interface LinkSlug {
  id: number
  domain: string
  slug: string
  slug_key: string
}

/** All links of the workspace, deleted ones too, in the order of their ids: some thousand a turn of the event loop. */
export async function* listLinkSlugs({ read }: Database, workspaceId: number): AsyncGenerator<LinkSlug[]> {
  for (let after: number | undefined = 0; after !== undefined; ) {
    await takeTurn()
    const rows: LinkSlug[] = await read
      .selectFrom('links')
      .select(['id', 'domain', 'slug', 'slug_key'])
      .where('workspace_id', '=', workspaceId)
      .where('id', '>', after)
      .orderBy('id')
      .limit(ROWS_AT_ONCE)
      .execute()
    yield rows
    after = rows.length < ROWS_AT_ONCE ? undefined : rows.at(-1)?.id
  }
}

interface TaggedLink {
  linkId: number
  group: number
}

/** The tags of all links of the workspace. */
export async function loadLinkTags({ engine, read }: Database, workspaceId: number): Promise<TaggedLink[]> {
  const select = () =>
    read
      .selectFrom('link_tags')
      .select(['link_id as linkId', 'tag_id as group'])
      .where('workspace_id', '=', workspaceId)
  if (engine === 'postgres') return select().execute()
  const tags = await read.selectFrom('tags').select('id').where('workspace_id', '=', workspaceId).execute()
  const pace = createPacer()
  const linkTags: TaggedLink[] = []
  for (const { id } of tags) {
    for (let after: number | undefined = 0; after !== undefined; ) {
      await pace()
      const rows: TaggedLink[] = await select()
        .where('tag_id', '=', id)
        .where('link_id', '>', after)
        .orderBy('link_id')
        .limit(ROWS_AT_ONCE)
        .execute()
      linkTags.push(...rows)
      after = rows.length < ROWS_AT_ONCE ? undefined : rows.at(-1)?.linkId
    }
  }
  return linkTags
}

export async function loadTagNames({ db }: AnswerContext, { workspaceId }: WorkspaceScope, ids: number[]) {
  const tags =
    ids.length === 0
      ? []
      : await db.read
          .selectFrom('tags')
          .select(['id', 'name'])
          .where('workspace_id', '=', workspaceId)
          .where('id', 'in', ids)
          .execute()
  const names = new Map(tags.map((tag) => [tag.id, tag.name]))
  return (id: number) => ({ tag: id, name: names.get(id) ?? null })
}

export async function loadFormNames({ db }: AnswerContext, { workspaceId }: WorkspaceScope, keys: string[]) {
  const forms =
    keys.length === 0
      ? []
      : await db.read
          .selectFrom('forms')
          .select(['form_key', 'name'])
          .where('workspace_id', '=', workspaceId)
          .where('form_key', 'in', keys)
          .execute()
  const names = new Map(forms.map((form) => [form.form_key, form.name]))
  return (key: string) => ({ form: key, name: names.get(key) ?? null })
}
