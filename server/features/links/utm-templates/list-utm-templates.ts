// Lists the UTM templates of a workspace, newest first, a page at a time.

import type { Page } from '../../../lib/pagination.ts'
import { listNewest } from '../../../storage/database/list-newest.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import type { Actor } from '../../accounts/access/actor.ts'
import type { UtmTemplateListQueryInput, UtmTemplateResource } from './schema.ts'
import { toUtmTemplateResource } from './utm-template.ts'

const ORDER = { name: 'utm_templates createdAt desc', table: 'utm_templates', byCreation: true }

/** @throws Failure `invalid` for a wrong cursor */
export async function listUtmTemplates(
  { db }: { db: Pick<Database, 'read'> },
  { workspaceId }: Pick<Actor, 'workspaceId'>,
  query: UtmTemplateListQueryInput,
): Promise<Page<UtmTemplateResource>> {
  const templates = db.read.selectFrom('utm_templates').selectAll().where('workspace_id', '=', workspaceId)
  const { rows, ...page } = await listNewest(templates, query, ORDER)
  return { data: rows.map(toUtmTemplateResource), ...page }
}
