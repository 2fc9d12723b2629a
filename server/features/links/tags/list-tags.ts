// Lists the tags of a workspace, newest first, a page at a time.

import { sql } from 'kysely'
import type { Page } from '../../../lib/pagination.ts'
import { foldMarks } from '../../../lib/text.ts'
import { containsFolded } from '../../../storage/database/contains-text.ts'
import { listNewest } from '../../../storage/database/list-newest.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import type { Actor } from '../../accounts/access/actor.ts'
import type { TagListQueryInput, TagResource } from '../schema.ts'
import { countLinksByTag, toTagResource } from './tag.ts'

const ORDER = { name: 'tags createdAt desc', table: 'tags', byCreation: true }

/** @throws Failure `invalid` for a wrong cursor */
export async function listTags(
  { db }: { db: Database },
  actor: Actor,
  query: TagListQueryInput,
): Promise<Page<TagResource>> {
  let matching = db.read.selectFrom('tags').selectAll().where('workspace_id', '=', actor.workspaceId)
  const { search, pinned } = query
  if (pinned !== undefined) matching = matching.where('pinned', '=', Number(pinned === 'true'))
  if (search) {
    const marked = await findMarkedTags(db, actor, search)
    matching = matching.where((e) =>
      e.or([
        containsFolded(db.engine, 'name_key', search),
        ...(marked.length > 0 ? [e('id', 'in', marked)] : []),
      ]),
    )
  }
  const { rows, ...page } = await listNewest(matching, query, ORDER)
  const links = await countLinksByTag(
    db.read,
    actor,
    rows.map(({ id }) => id),
  )
  return { data: rows.map((tag) => toTagResource(tag, links.get(tag.id) ?? 0)), ...page }
}

/** Tags with non-ASCII letters whose names match without their marks. A workspace has some thousand tags at most. */
async function findMarkedTags({ read }: Database, actor: Actor, search: string): Promise<number[]> {
  const text = foldMarks(search)
  if (text === '') return []
  const tags = await read
    .selectFrom('tags')
    .select(['id', 'name_key'])
    .where('workspace_id', '=', actor.workspaceId)
    .where(sql<boolean>`octet_length(name_key) > length(name_key)`)
    .execute()
  return tags.filter((tag) => foldMarks(tag.name_key).includes(text)).map(({ id }) => id)
}
