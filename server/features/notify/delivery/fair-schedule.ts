// Whose turn it is: a little for each channel, so that nobody waits behind another's thousands.

import { sql } from 'kysely'
import type { Connection } from '../../../storage/database/open-database.ts'
import type { ChannelRow } from '../channels/channel.ts'

/** Attempts at the same time. */
export const CONCURRENT_ATTEMPTS = 32
/** Of these, for channels whose last attempt failed: they may be slow, and the others have to get through. */
const FAILING_SLOTS = 16
/** At the same time to one channel. */
const PER_CHANNEL = 2

export interface ChannelTurn {
  channel: ChannelRow
  /** How many at most. */
  limit: number
  /** Not these: they are in hand here, though a clock that jumped says that their lease is over. */
  inFlightIds: number[]
}

export interface InFlightDelivery {
  id: number
  channel: ChannelRow
}

/** Where the next round begins: behind the channels whose turn it was. */
export interface RoundRobinPosition {
  healthy: number
  failing: number
}

/** For as many as there is room for. @param resting channels that are left alone */
export async function scheduleTurns(
  connection: Connection,
  {
    now,
    inHand,
    resting,
    round,
  }: { now: number; inHand: InFlightDelivery[]; resting: number[]; round: RoundRobinPosition },
): Promise<{ turns: ChannelTurn[]; round: RoundRobinPosition }> {
  const of = ({ id }: ChannelRow) => inHand.filter(({ channel }) => channel.id === id)
  const most = (channel: ChannelRow) =>
    (channel.failing_since === null ? PER_CHANNEL : 1) - of(channel).length
  const full = inHand.map(({ channel }) => channel).filter((channel) => most(channel) <= 0)
  const except = [...new Set([...full.map(({ id }) => id), ...resting])]
  const slow = inHand.filter(({ channel }) => channel.failing_since !== null).length
  const room = CONCURRENT_ATTEMPTS - inHand.length
  const healthy = await readDueChannels(connection, {
    now,
    after: round.healthy,
    except,
    failing: false,
    limit: room,
  })
  const free = Math.min(FAILING_SLOTS - slow, room - healthy.length)
  const failing = await readDueChannels(connection, {
    now,
    after: round.failing,
    except,
    failing: true,
    limit: free,
  })
  const turns: ChannelTurn[] = []
  let left = room
  for (const channel of [...healthy, ...failing]) {
    const some = Math.min(most(channel), left)
    if (some > 0) turns.push({ channel, limit: some, inFlightIds: of(channel).map(({ id }) => id) })
    left -= Math.max(0, some)
  }
  const next = {
    healthy: healthy.at(-1)?.id ?? round.healthy,
    failing: failing.at(-1)?.id ?? round.failing,
  }
  return { turns, round: next }
}

interface ChannelFilter {
  now: number
  /** Begin behind this channel, and go round. */
  after: number
  failing: boolean
  except: number[]
  limit: number
}

/** The next channels that something is due for. */
async function readDueChannels(connection: Connection, which: ChannelFilter): Promise<ChannelRow[]> {
  if (which.limit <= 0) return []
  const behind = await readChannelsBetween(connection, which, which.after, Number.MAX_SAFE_INTEGER)
  if (behind.length >= which.limit || which.after === 0) return behind
  const rest = { ...which, limit: which.limit - behind.length }
  return [...behind, ...(await readChannelsBetween(connection, rest, 0, which.after))]
}

/** Steps from channel to channel on the index of what waits: a channel costs the same whether one waits or thousands. */
async function readChannelsBetween(
  connection: Connection,
  { now, failing, except, limit }: ChannelFilter,
  after: number,
  upTo: number,
) {
  const { rows } = await sql<ChannelRow>`
    with recursive waiting (channel_id) as (
      select min(channel_id) from deliveries where status = 'waiting' and channel_id > ${after}
      union all
      select (select min(channel_id) from deliveries
        where status = 'waiting' and channel_id > waiting.channel_id)
      from waiting where channel_id is not null and channel_id <= ${upTo}
    )
    select c.* from waiting cross join channels c
    where c.id = waiting.channel_id and c.id <= ${upTo} and c.enabled = 1
      and c.failing_since is ${sql.raw(failing ? 'not null' : 'null')}
      and (c.paused_until is null or c.paused_until <= ${now})
      and c.id not in (${sql.join([0, ...except])})
      and exists (select 1 from deliveries d
        where d.channel_id = c.id and d.status = 'waiting' and d.due_at <= ${now}
          and (d.leased_until is null or d.leased_until <= ${now}))
    limit ${limit}`.execute(connection)
  return rows
}
