// Finds the view of a shared page. Each request asks the database, so a share ends with the request after its end.

import type { Connection } from '../../../storage/database/open-database.ts'
import type { ViewRow } from '../view.ts'

const TOKEN = /^[\w-]{22}$/

/** Names no workspace: the token is the secret that opens the page. @returns undefined where there is no page */
export async function findSharedView(
  read: Connection,
  token: string,
  now: number,
): Promise<ViewRow | undefined> {
  if (!TOKEN.test(token)) return undefined
  const view = await read
    .selectFrom('views')
    .innerJoin('workspaces', 'workspaces.id', 'views.workspace_id')
    .selectAll('views')
    .where('views.share_token', '=', token)
    .where('workspaces.suspended_at', 'is', null)
    .executeTakeFirst()
  return view && (view.share_expires_at === null || view.share_expires_at > now) ? view : undefined
}
