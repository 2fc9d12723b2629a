// Whose turn it is: a little for each channel, so that nobody waits behind another's thousands.

import { sql } from 'kysely'
import type { Db } from '../../storage/rows/open.ts'
import type { ChannelRow } from './channel.ts'

/** Attempts at the same time. */
export const SLOTS = 32
/** Of these, for channels whose last attempt failed: they may be slow, and the others have to get through. */
const FAILING_SLOTS = 16
/** At the same time to one channel. */
const EACH = 2

export interface Turn {
  channel: ChannelRow
  /** How many at most. */
  most: number
  /** Not these: they are in hand here, though a clock that jumped says that their lease is over. */
  inHand: number[]
}

export interface InHand {
  id: number
  channel: ChannelRow
}

/** Where the next round begins: behind the channels whose turn it was. */
export interface Round {
  sound: number
  failing: number
}

/** For as many as there is room for. @param resting channels that are left alone */
export async function turnsOf(
  db: Db,
  { now, inHand, resting, round }: { now: number; inHand: InHand[]; resting: number[]; round: Round },
): Promise<{ turns: Turn[]; round: Round }> {
  const of = ({ id }: ChannelRow) => inHand.filter(({ channel }) => channel.id === id)
  const most = (channel: ChannelRow) => (channel.failing_since === null ? EACH : 1) - of(channel).length
  const full = inHand.map(({ channel }) => channel).filter((channel) => most(channel) <= 0)
  const except = [...new Set([...full.map(({ id }) => id), ...resting])]
  const slow = inHand.filter(({ channel }) => channel.failing_since !== null).length
  const room = SLOTS - inHand.length
  const sound = await channelsDue(db, { now, after: round.sound, except, failing: false, limit: room })
  const free = Math.min(FAILING_SLOTS - slow, room - sound.length)
  const failing = await channelsDue(db, { now, after: round.failing, except, failing: true, limit: free })
  const turns: Turn[] = []
  let left = room
  for (const channel of [...sound, ...failing]) {
    const some = Math.min(most(channel), left)
    if (some > 0) turns.push({ channel, most: some, inHand: of(channel).map(({ id }) => id) })
    left -= Math.max(0, some)
  }
  const next = {
    sound: sound.at(-1)?.id ?? round.sound,
    failing: failing.at(-1)?.id ?? round.failing,
  }
  return { turns, round: next }
}

interface Which {
  now: number
  /** Begin behind this channel, and go round. */
  after: number
  failing: boolean
  except: number[]
  limit: number
}

/** The next channels that something is due for. */
async function channelsDue(db: Db, which: Which): Promise<ChannelRow[]> {
  if (which.limit <= 0) return []
  const behind = await channelsBetween(db, which, which.after, Number.MAX_SAFE_INTEGER)
  if (behind.length >= which.limit || which.after === 0) return behind
  const rest = { ...which, limit: which.limit - behind.length }
  return [...behind, ...(await channelsBetween(db, rest, 0, which.after))]
}

/** Steps from channel to channel on the index of what waits: a channel costs the same whether one waits or thousands. */
async function channelsBetween(db: Db, { now, failing, except, limit }: Which, after: number, upTo: number) {
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
    limit ${limit}`.execute(db)
  return rows
}
