// Reads the links of a workspace in steps of some kilobytes, one step a turn of the event loop.

import { takeTurn } from '../../lib/concurrency/take-turn.ts'
import type { Connection } from '../../storage/database/open-database.ts'
import type { LinkRow } from '../links/link.ts'
import { readStoredLinks } from '../links/list.ts'
import { LINK_BYTES } from '../links/scan-links.ts'

const LINKS_AT_ONCE = 500

/** @param which `live`: without archived and suspended links. None are in the trash */
export async function* scanLinksOfWorkspace(
  read: Connection,
  workspaceId: number,
  which: 'live' | 'all',
): AsyncGenerator<LinkRow> {
  for (let after = 0; ; ) {
    await takeTurn()
    let step = read
      .selectFrom('links')
      .select(['id', LINK_BYTES])
      .where('workspace_id', '=', workspaceId)
      .where('id', '>', after)
      .where('deleted_at', 'is', null)
    if (which === 'live') step = step.where('archived', '=', 0).where('suspended_at', 'is', null)
    const positions = await step.orderBy('id').limit(LINKS_AT_ONCE).execute()
    for await (const rows of readStoredLinks(read, { workspaceId }, positions)) yield* rows
    if (positions.length < LINKS_AT_ONCE) return
    after = positions.at(-1)?.id ?? after
  }
}
