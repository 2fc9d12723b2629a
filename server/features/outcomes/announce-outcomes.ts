// Stores the deliveries of outcomes, in the transaction that records them.

import type { Connection, DatabaseEngine } from '../../storage/database/open-database.ts'
import { toLeadFacts } from '../notify/events/channel-filter.ts'
import { readEventLinks } from '../notify/events/read-links.ts'
import { enqueueEvents, type NewEvent } from '../notify/outbox/enqueue-events.ts'
import { toCampaign } from '../visitors/campaign-columns.ts'
import type { OutcomeResource } from './schema.ts'

interface OutcomeNews {
  connection: Connection
  engine: DatabaseEngine
  workspaceId: number
  at: number
  /** `https://go.example` */
  origin: string
}

/** New ones, and those that an external id has changed. */
export const announceOutcomes = (
  { connection, engine, workspaceId, at, origin }: OutcomeNews,
  outcomes: OutcomeResource[],
): Promise<void> =>
  enqueueEvents(connection, engine, { workspaceId, event: 'outcome.recorded', at }, async () => {
    const links = await readEventLinks(
      connection,
      { workspaceId, origin },
      outcomes.flatMap(({ linkId }) => linkId ?? []),
    )
    const events: NewEvent[] = []
    for (const outcome of outcomes) {
      const lead = await connection
        .selectFrom('submissions')
        .selectAll()
        .where('workspace_id', '=', workspaceId)
        .where('id', '=', outcome.submissionId)
        .executeTakeFirstOrThrow()
      const { formKey, linkId } = outcome
      const link = linkId === null ? undefined : links.get(linkId)
      const facts = toLeadFacts({ ...lead, ...toCampaign(lead), formKey, linkId }, link)
      events.push({ facts, data: outcome, submissionId: outcome.submissionId })
    }
    return events
  })
