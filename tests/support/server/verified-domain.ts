// Domains of workspaces for tests: rows as a verification leaves them, without DNS.

import type { Insertable } from 'kysely'
import { recordChange } from '../../../server/storage/database/record-change.ts'
import type { Domains } from '../../../server/storage/database/tables/domain-tables.ts'
import { BROWSER_USER_AGENT, type TestServer, type TestWorkspace } from '../world.ts'
import type { HttpAnswer, HttpCall } from './http-call.ts'

type Server = Pick<TestServer, 'app'>
type DomainFields = Partial<Insertable<Domains>>

/** @returns the id of a domain that answers from now on. Another workspace must not have the name verified. */
export async function addVerifiedDomain(
  { app }: Server,
  workspaceId: number,
  name: string,
  fields: DomainFields = {},
): Promise<number> {
  const at = Date.now()
  const id = await app.db.write(async (connection, onCommit) => {
    const row = await connection
      .insertInto('domains')
      .values({
        workspace_id: workspaceId,
        domain: name,
        token: 'test',
        verified_at: at,
        is_primary: 0,
        case_sensitive: 0,
        created_at: at,
        updated_at: at,
        ...fields,
      })
      .returning('id')
      .executeTakeFirstOrThrow()
    recordChange(onCommit, { workspaceId })
    return row.id
  })
  await app.domains.reload()
  return id
}

/** Changes a domain, such as `{ verified_at: null }`, as its workspace's verbs would. */
export async function changeDomain({ app }: Server, id: number, fields: DomainFields): Promise<void> {
  await app.db.write(async (connection, onCommit) => {
    const { workspace_id: workspaceId } = await connection
      .updateTable('domains')
      .set(fields)
      .where('id', '=', id)
      .returning('workspace_id')
      .executeTakeFirstOrThrow()
    recordChange(onCommit, { workspaceId })
  })
  await app.domains.reload()
}

/** Puts a link of the workspace on a domain, even of another workspace. @returns the link's id */
export async function putLinkOnDomain(
  { app }: Server,
  workspace: Pick<TestWorkspace, 'id' | 'createLink'>,
  domain: string,
  { slug, ...fields }: { slug: string; [field: string]: unknown },
): Promise<number> {
  const { id } = await workspace.createLink(fields)
  const { slug_key } = await app.db.read
    .selectFrom('links')
    .select('slug_key')
    .where('workspace_id', '=', workspace.id)
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  await app.db.write(async (connection, onCommit) => {
    const slugKey = app.domains.get(domain)?.caseSensitive ? slug : slug.toLowerCase()
    await connection
      .updateTable('links')
      .set({ domain, slug, slug_key: slugKey })
      .where('workspace_id', '=', workspace.id)
      .where('id', '=', id)
      .execute()
    recordChange(onCommit, { domain: '', slugKey: slug_key }, { domain, slugKey })
  })
  return id
}

/** Calls a server under the name of a host, as a browser does. */
export const callHost = (
  server: Pick<TestServer, 'call'>,
  host: string,
  path: string,
  { headers, ...call }: HttpCall = {},
): Promise<HttpAnswer> =>
  server.call(path, { ...call, headers: { Host: host, 'User-Agent': BROWSER_USER_AGENT, ...headers } })
