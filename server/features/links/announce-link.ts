// Stores the deliveries of a link's event, in the transaction that changes the link.

import type { Connection, DatabaseEngine } from '../../storage/database/open-database.ts'
import type { WorkspaceEvent } from '../notify/events/channel-events.ts'
import { toLinkFacts } from '../notify/events/channel-filter.ts'
import { enqueueEvents } from '../notify/outbox/enqueue-events.ts'
import type { CloseReason, LinkResource } from './schema.ts'

type AnnouncedLink = LinkResource & { reason?: CloseReason }
type LinkEvent = Exclude<WorkspaceEvent, 'link.clicked' | 'outcome.recorded'>

/** @param makeLink is called when a channel subscribes to the event. Adds fields to those of the link */
export const announceLink = (
  { connection, db }: { connection: Connection; db: { engine: DatabaseEngine } },
  { workspaceId, event, at }: { workspaceId: number; event: LinkEvent; at: number },
  makeLink: () => AnnouncedLink | Promise<AnnouncedLink>,
): Promise<void> =>
  enqueueEvents(connection, db.engine, { workspaceId, event, at }, async () => {
    const link = await makeLink()
    return [{ facts: toLinkFacts(link), data: link }]
  })
