// Loads the names of links, tags and forms for answers. A deleted link keeps its name.

import type { Database } from '../../storage/database/database.ts'
import type { WorkspaceScope } from './resolve-selection.ts'

interface Needs {
  db: Pick<Database, 'read'>
  /** The name of the default domain, which is stored as ''. */
  defaultDomain: string
}

export interface LinkName {
  /** null: no link. */
  link: number | null
  slug: string | null
  domain: string | null
  destinationUrl: string | null
  deleted: boolean
}

export async function loadLinkNames(
  { db, defaultDomain }: Needs,
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

export async function loadTagNames(
  { db }: Pick<Needs, 'db'>,
  { workspaceId }: WorkspaceScope,
  ids: number[],
) {
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

export async function loadFormNames(
  { db }: Pick<Needs, 'db'>,
  { workspaceId }: WorkspaceScope,
  keys: string[],
) {
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
