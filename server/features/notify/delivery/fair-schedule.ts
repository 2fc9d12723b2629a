// Chooses the channels that deliver next: a few deliveries for each, so that no channel waits behind the thousands of
// another.

import { sql } from 'kysely'
import type { Connection, DatabaseEngine } from '../../../storage/database/open-database.ts'
import { isOneOf, prepareText } from '../../../storage/database/prepare-query.ts'
import type { ChannelRow } from '../channels/channel.ts'
import { BASE_CONCURRENCY, type ChannelConcurrency } from './channel-concurrency.ts'

/** Attempts that run at the same time. Each channel has at most BASE_CONCURRENCY of them. */
const BASE_SLOTS = 32
/** The most of them for channels whose last attempt failed: those may be slow, and must not block the rest. */
const FAILING_SLOTS = 16
/** Further attempts, to channels whose receivers answer at once. They take nothing away from the others. */
const EXTRA_SLOTS = 32
/** All attempts that run at the same time, notices to owners aside. */
export const CONCURRENT_ATTEMPTS = BASE_SLOTS + EXTRA_SLOTS

export interface ChannelTurn {
  channel: ChannelRow
  /** The most deliveries to claim. */
  limit: number
  /** The channel's free slots, after those of other processes. */
  free: number
  /** Deliveries that run here already. After a clock jump, the database can take their leases for expired. */
  inFlightIds: number[]
}

export interface InFlightDelivery {
  id: number
  channel: ChannelRow
}

/** The last channel that had a turn, by id. The next round starts after it. */
export interface RoundRobinPosition {
  healthy: number
  failing: number
}

export interface SlotRequest {
  now: number
  inFlight: InFlightDelivery[]
  /** Ids of channels that get no turn. */
  paused: number[]
  round: RoundRobinPosition
  getLimit: ChannelConcurrency['getLimit']
}

interface Room {
  base: number
  extra: number
}

function findRoom(inFlight: InFlightDelivery[]): Room {
  const running = Map.groupBy(inFlight, ({ channel }) => channel.id)
  const base = sum([...running.values()], ({ length }) => Math.min(length, BASE_CONCURRENCY))
  return { base: BASE_SLOTS - base, extra: EXTRA_SLOTS - (inFlight.length - base) }
}

const sum = <T>(list: T[], toNumber: (one: T) => number) =>
  list.reduce((total, one) => total + toNumber(one), 0)

/** True where a channel can have a turn. */
export const hasFreeSlots = (inFlight: InFlightDelivery[]) => findRoom(inFlight).base > 0

/** Fills the free slots. */
export async function scheduleTurns(
  connection: Connection,
  engine: DatabaseEngine,
  { now, inFlight, paused, round, getLimit }: SlotRequest,
): Promise<{ turns: ChannelTurn[]; round: RoundRobinPosition }> {
  const inFlightTo = ({ id }: ChannelRow) => inFlight.filter(({ channel }) => channel.id === id)
  const freeSlots = (channel: ChannelRow) =>
    (channel.failing_since === null ? getLimit(channel) : 1) - inFlightTo(channel).length
  const full = inFlight.map(({ channel }) => channel).filter((channel) => freeSlots(channel) <= 0)
  const filter = { now, except: [...new Set([...full.map(({ id }) => id), ...paused])] }
  const left = findRoom(inFlight)
  const room = left.base
  const healthy = await readDueChannels(connection, engine, {
    ...filter,
    after: round.healthy,
    failing: false,
    limit: room,
  })
  const failingInFlight = inFlight.filter(({ channel }) => channel.failing_since !== null).length
  const failing = await readDueChannels(connection, engine, {
    ...filter,
    after: round.failing,
    failing: true,
    limit: Math.min(FAILING_SLOTS - failingInFlight, room - healthy.length),
  })
  const turns: ChannelTurn[] = []
  for (const channel of [...healthy, ...failing]) {
    const inFlightIds = inFlightTo(channel).map(({ id }) => id)
    const free = freeSlots(channel)
    const limit = takeSlots(left, inFlightIds.length, free)
    if (limit > 0) turns.push({ channel, limit, free, inFlightIds })
  }
  const next = {
    healthy: healthy.at(-1)?.id ?? round.healthy,
    failing: failing.at(-1)?.id ?? round.failing,
  }
  return { turns, round: next }
}

/** @returns how many of the channel's free slots it gets. Those above its base come out of the extra ones. */
function takeSlots(left: Room, running: number, free: number): number {
  const base = Math.min(Math.max(0, BASE_CONCURRENCY - running), free, left.base)
  const extra = Math.min(Math.max(0, free - Math.max(0, BASE_CONCURRENCY - running)), left.extra)
  left.base -= base
  left.extra -= extra
  return base + extra
}

interface ChannelFilter extends Record<string, unknown> {
  now: number
  /** Starts after the channel with this id, and goes on with the first channel. */
  after: number
  failing: boolean
  except: number[]
  limit: number
}

/** The next channels that have a due delivery. */
async function readDueChannels(
  connection: Connection,
  engine: DatabaseEngine,
  filter: ChannelFilter,
): Promise<ChannelRow[]> {
  if (filter.limit <= 0) return []
  const later = await SELECT_CHANNELS[engine](connection, { ...filter, upTo: Number.MAX_SAFE_INTEGER })
  if (later.length >= filter.limit || filter.after === 0) return later
  const rest = { ...filter, limit: filter.limit - later.length, after: 0, upTo: filter.after }
  return [...later, ...(await SELECT_CHANNELS[engine](connection, rest))]
}

/**
 * Steps from channel to channel on the index of waiting deliveries, so that a channel costs the same whether one delivery
 * waits for it or thousands.
 */
function selectChannels(
  connection: Connection,
  { now, failing, except, limit, after, upTo }: ChannelFilter & { upTo: number },
) {
  return sql<ChannelRow>`
    with recursive waiting (channel_id) as (
      select min(channel_id) from deliveries where status = 'waiting' and channel_id > ${after}
      union all
      select (select min(channel_id) from deliveries
        where status = 'waiting' and channel_id > waiting.channel_id)
      from waiting where channel_id is not null and channel_id <= ${upTo}
    )
    select c.* from waiting cross join channels c
    where c.id = waiting.channel_id and c.id <= ${upTo} and c.enabled = 1
      and (c.failing_since is not null) = ${failing}
      and (c.paused_until is null or c.paused_until <= ${now})
      and not (${isOneOf(connection, 'c.id', except)})
      and exists (select 1 from deliveries d
        where d.channel_id = c.id and d.status = 'waiting' and d.due_at <= ${now}
          and (d.leased_until is null or d.leased_until <= ${now}))
    limit ${limit}`
}

const SELECT_CHANNELS = {
  sqlite: prepareText(selectChannels),
  // Locks the channels, and leaves out those for which another process claims at this moment: see claim-deliveries.ts.
  postgres: prepareText(
    (connection, filter: ChannelFilter & { upTo: number }) =>
      sql<ChannelRow>`${selectChannels(connection, filter)} for no key update of c skip locked`,
  ),
}
