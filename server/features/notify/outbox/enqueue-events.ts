// Stores the deliveries of an event in the transaction that makes it: what is rolled back tells nobody.

import type { Connection, DatabaseEngine } from '../../../storage/database/open-database.ts'
import { prepareQuery } from '../../../storage/database/prepare-query.ts'
import { parseChannelEvents, type WorkspaceEvent } from '../events/channel-events.ts'
import { type EventFacts, passesFilter } from '../events/channel-filter.ts'
import { insertDeliveries } from './enqueue-deliveries.ts'

export interface NewEvent {
  /** The values that filters of channels compare. */
  facts: EventFacts
  /** The events of the channel. */
  data: object
  /** The lead that it is about. Its deliveries are deleted with the lead. */
  submissionId?: number
}

export interface EventOwner {
  workspaceId: number
  event: WorkspaceEvent
  at: number
}

/**
 * The deliverer finds them within a second.
 * @param makeEvents is called where a channel wants such an event: most workspaces have none
 */
export async function enqueueEvents(
  connection: Connection,
  engine: DatabaseEngine,
  { workspaceId, event, at }: EventOwner,
  makeEvents: () => NewEvent[] | Promise<NewEvent[]>,
): Promise<void> {
  const subscribers = (await SELECT_SUBSCRIBERS[engine](connection, { workspaceId })).filter((channel) =>
    parseChannelEvents(channel).includes(event),
  )
  if (subscribers.length === 0) return
  const deliveries = (await makeEvents()).flatMap(({ facts, data, submissionId }) => {
    const wanting = subscribers.filter(({ filter }) => passesFilter(filter, facts))
    const payload = wanting.length > 0 ? JSON.stringify(data) : undefined
    return wanting.map(({ id }) => ({
      workspace_id: workspaceId,
      channel_id: id,
      submission_id: submissionId ?? null,
      event,
      payload,
    }))
  })
  if (deliveries.length > 0) await insertDeliveries(connection, deliveries, at)
}

const selectSubscribers = (connection: Connection, { workspaceId }: { workspaceId: number }) =>
  connection
    .selectFrom('channels')
    .select(['id', 'events', 'filter'])
    .where('workspace_id', '=', workspaceId)
    .where('events', 'is not', null)
    .where('enabled', '=', 1)
    .orderBy('id')

const SELECT_SUBSCRIBERS = {
  sqlite: prepareQuery(selectSubscribers),
  // As for submissions: a channel that is deleted at the same moment must not fail the change.
  postgres: prepareQuery((connection, query: { workspaceId: number }) =>
    selectSubscribers(connection, query).forKeyShare(),
  ),
}
