// Lists the domains of a workspace, oldest first, a page at a time.

import { cutPage, orderById, type Page, readPageQuery } from '../../../lib/pagination.ts'
import type { Actor } from '../../accounts/access/actor.ts'
import { type DomainNeeds, describeDomain } from './domain.ts'
import type { DomainListQueryInput, DomainResource } from './schema.ts'

const ORDER = orderById('domains id asc')

/** @throws Failure `invalid` for a wrong cursor */
export async function listDomains(
  needs: Pick<DomainNeeds, 'db' | 'serverAddresses'>,
  actor: Pick<Actor, 'workspaceId'>,
  query: DomainListQueryInput,
): Promise<Page<DomainResource>> {
  const { limit, after } = readPageQuery(query, ORDER)
  const { read } = needs.db
  const found = await read
    .selectFrom('domains')
    .selectAll()
    .where('workspace_id', '=', actor.workspaceId)
    .where('id', '>', after?.id ?? 0)
    .orderBy('id')
    .limit(limit + 1)
    .execute()
  const { total } = await read
    .selectFrom('domains')
    .select((e) => e.fn.countAll<number>().as('total'))
    .where('workspace_id', '=', actor.workspaceId)
    .executeTakeFirstOrThrow()
  const { rows, nextCursor } = cutPage(found, limit, ORDER)
  const data: DomainResource[] = []
  for (const row of rows) data.push(await describeDomain(needs, row))
  return { data, nextCursor, total: Number(total) }
}
