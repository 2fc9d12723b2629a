// A channel as a row, as the resource that callers see, and as the destination that senders need.

import type { Selectable } from 'kysely'
import { notFound } from '../../../lib/failure.ts'
import { toIso, toIsoOrNull } from '../../../lib/iso-time.ts'
import type { Page } from '../../../lib/pagination.ts'
import { listNewest } from '../../../storage/database/list-newest.ts'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import type { Channels } from '../../../storage/database/tables/notify-tables.ts'
import { type Action, type Actor, allow } from '../../accounts/access/actor.ts'
import { parseChannelEvents } from '../events/channel-events.ts'
import { REPLY_CHANNEL } from '../outbox/enqueue-reply.ts'
import { countWaiting, NOTHING_WAITS, type WaitingDeliveries } from '../outbox/waiting-deliveries.ts'
import { askAgain, type RecipientNeeds } from '../recipients/ask-recipients.ts'
import { type RecipientStates, readRecipientStates } from '../recipients/recipient-states.ts'
import type { ChannelListQueryInput, ChannelResource, ChannelTemplate, ChannelType } from '../schema.ts'
import { readTiming } from '../timing/plan-delivery.ts'
import { findUnavailableReason, type ServerAbilities } from './channel-settings.ts'
import type { ChannelDestination } from './contract.ts'
import { type SealedSecrets, type Sealing, toChannelSecrets } from './secrets.ts'
import { countForms } from './use-for-forms.ts'

/** The permission to change channels and to repeat deliveries. */
export const CHANNELS_WRITE: Action = 'channels:write'

export interface ChannelNeeds {
  db: Database
  now: () => number
  sealing: Sealing
  recipients: RecipientNeeds
  send: ServerAbilities
}

interface DescribeNeeds {
  connection: Connection
  send: ServerAbilities
}

export type ChannelRow = Selectable<Channels>

/** @throws Failure `not_found`, also for a channel of another workspace, and for the hidden one of replies */
export async function getChannel(
  connection: Connection,
  actor: Pick<Actor, 'workspaceId'>,
  id: number,
): Promise<ChannelRow> {
  const row = await connection
    .selectFrom('channels')
    .selectAll()
    .where('workspace_id', '=', actor.workspaceId)
    .where('id', '=', id)
    .where('type', '<>', REPLY_CHANNEL)
    .executeTakeFirst()
  if (!row) throw notFound('Channel')
  return row
}

const ORDER = { name: 'channels createdAt desc', table: 'channels', byCreation: true }

/** Newest first, a page at a time. @throws Failure `invalid` for a wrong cursor */
export async function listChannels(
  { db, send }: { db: Database; send: ServerAbilities },
  actor: Actor,
  query: ChannelListQueryInput,
): Promise<Page<ChannelResource>> {
  const channels = db.read
    .selectFrom('channels')
    .selectAll()
    .where('workspace_id', '=', actor.workspaceId)
    .where('type', '<>', REPLY_CHANNEL)
  const { rows, ...page } = await listNewest(channels, query, ORDER)
  const data = await describeChannels({ connection: db.read, send }, actor.workspaceId, rows)
  return { data, ...page }
}

const listRecipients = (row: Pick<ChannelRow, 'recipients'>): string[] => JSON.parse(row.recipients)

/** A channel with the states of its recipients, and what waits for it. */
export async function describeChannel(needs: DescribeNeeds, row: ChannelRow): Promise<ChannelResource> {
  const [channel] = await describeChannels(needs, row.workspace_id, [row])
  return channel as ChannelResource
}

/**
 * Asks the unconfirmed recipients of a channel once more, for a mail that was lost.
 * @returns how many recipients a mail was sent to. @throws Failure `not_found`, `too_many`
 */
export async function askChannelRecipients(
  needs: ChannelNeeds,
  actor: Actor,
  id: number,
): Promise<{ mailed: number }> {
  allow(actor, CHANNELS_WRITE)
  const row = await getChannel(needs.db.read, actor, id)
  const { unconfirmed } = await describeChannel({ ...needs, connection: needs.db.read }, row)
  return { mailed: await askAgain(needs, actor.workspaceId, unconfirmed) }
}

export async function describeChannels(
  { connection, send }: DescribeNeeds,
  workspaceId: number,
  rows: ChannelRow[],
): Promise<ChannelResource[]> {
  const addresses = rows.filter(({ type }) => type === 'email').flatMap(listRecipients)
  const states = await readRecipientStates(connection, workspaceId, addresses)
  const counted = await countWaiting(
    connection,
    rows.map(({ id }) => id),
  )
  const forms = await countForms(connection, workspaceId)
  return rows.map((row) => ({
    ...toChannelResource(row, states, counted.get(row.id) ?? NOTHING_WAITS, send),
    forms: forms.get(row.id) ?? 0,
  }))
}

function toChannelResource(
  row: ChannelRow,
  states: RecipientStates,
  { waiting, oldest }: WaitingDeliveries,
  send: ServerAbilities,
): Omit<ChannelResource, 'forms'> {
  const to = listRecipients(row)
  return {
    id: row.id,
    type: row.type as ChannelType,
    name: row.name,
    to,
    unconfirmed: to.filter((address) => states.get(address) === 'unconfirmed'),
    stopped: to.filter((address) => states.get(address) === 'stopped'),
    url: row.shown_url,
    chatId: row.chat_id,
    method: row.method as ChannelResource['method'],
    headers: row.headers === null ? null : JSON.parse(row.headers),
    body: row.body,
    events: parseChannelEvents(row),
    filter: row.filter === null ? null : JSON.parse(row.filter),
    enabled: row.enabled === 1,
    disabledReason: row.disabled_reason,
    unavailableReason: findUnavailableReason(row, send),
    failingSince: toIsoOrNull(row.failing_since),
    lastError: row.failing_since === null ? null : row.last_error,
    lastDeliveryAt: toIsoOrNull(row.last_delivery_at),
    waiting,
    oldestWaitingAt: toIsoOrNull(oldest),
    behindSince: row.enabled === 1 ? toIsoOrNull(row.behind_since) : null,
    template: parseChannelTemplate(row),
    ...readTiming(row),
    attachUpTo: row.attach_up_to,
    allForms: row.all_forms === 1,
    createdAt: toIso(row.created_at),
    updatedAt: toIso(row.updated_at),
  }
}

export const parseChannelTemplate = ({ template }: Pick<ChannelRow, 'template'>): ChannelTemplate | null =>
  template === null ? null : JSON.parse(template)

/** @throws when another installation sealed the secrets, or somebody changed them */
export function unsealSecrets({ sealing }: Pick<ChannelNeeds, 'sealing'>, row: ChannelRow): SealedSecrets {
  if (row.sealed === null) return {}
  return sealing.open(row.sealed, { workspaceId: row.workspace_id, channelId: row.id })
}

/** @throws as `unsealSecrets` does */
export function toChannelDestination(
  needs: Pick<ChannelNeeds, 'sealing'>,
  row: ChannelRow,
  at: number,
): ChannelDestination {
  return {
    name: row.name,
    recipients: listRecipients(row),
    chatId: row.chat_id,
    method: row.method,
    body: row.body,
    secrets: toChannelSecrets(unsealSecrets(needs, row), at),
    attachUpTo: row.attach_up_to,
  }
}
