// Checks the backlog of each channel every ten seconds. It tells the operator, and the owners of the workspace, when more
// notifications arrive than the receiver accepts, and when that is over.

import { sql } from 'kysely'
import { takeTurn } from '../../../lib/concurrency/take-turn.ts'
import { describeError, log } from '../../../lib/log.ts'
import { DAY_MS } from '../../../lib/utc-day.ts'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import type { ChannelRow } from '../channels/channel.ts'
import { CHANNEL_BEHIND, enqueueOwnerNotice } from '../outbox/enqueue-deliveries.ts'
import { REPLY_CHANNEL } from '../outbox/enqueue-reply.ts'
import { countWaiting, NOTHING_WAITS, type WaitingDeliveries } from '../outbox/waiting-deliveries.ts'
import { type BacklogTrend, extendTrend, hasCaughtUp, isFallingBehind } from './backlog-trend.ts'

const CHECK_EVERY_MS = 10_000
const CHANNELS_PER_STEP = 20

export interface BacklogWatchNeeds {
  db: Database
  now: () => number
  /** The interval of the checks. */
  checkMs?: number
  /** A notice is due. */
  wake: () => void
}

/** The backlog of all enabled channels, whichever process delivers to them. */
export interface Backlog extends WaitingDeliveries {
  channelsBehind: number
}

export interface BacklogWatch {
  /** As of the last check. */
  read(): Backlog
  close(): Promise<void>
}

type WatchedChannel = Pick<
  ChannelRow,
  'id' | 'workspace_id' | 'type' | 'enabled' | 'failing_since' | 'paused_until' | 'behind_since'
>

type WatchState = ReturnType<typeof createState>

const createState = (needs: BacklogWatchNeeds) => ({
  ...needs,
  trends: new Map<number, BacklogTrend>(),
  backlog: { ...NOTHING_WAITS, channelsBehind: 0 } as Backlog,
  degraded: false,
})

export function openBacklogWatch(needs: BacklogWatchNeeds): BacklogWatch {
  const state = createState(needs)
  let timer: Timer | undefined
  let closed = false
  let running: Promise<void> | undefined
  const run = () => {
    running = check(state)
      .then(() => {
        state.degraded = false
      })
      .catch((error) => {
        // Logged once: while the store is away, nothing is delivered either.
        if (!state.degraded) log.warn('backlog_unknown', describeError(error))
        state.degraded = true
      })
      .finally(() => {
        if (!closed) timer = setTimeout(run, needs.checkMs ?? CHECK_EVERY_MS)
      })
  }
  run()
  return {
    read: () => state.backlog,
    async close() {
      closed = true
      clearTimeout(timer)
      await running
    },
  }
}

async function check(state: WatchState): Promise<void> {
  const { db, now } = state
  const trends = new Map<number, BacklogTrend>()
  const backlog: Backlog = { ...NOTHING_WAITS, channelsBehind: 0 }
  const judge = async (channel: WatchedChannel, waiting: WaitingDeliveries) => {
    // No owner knows the hidden channel of replies, nor can do anything for it.
    if (channel.type === REPLY_CHANNEL) return
    const trend = extendTrend(state.trends.get(channel.id) ?? [], waiting, now())
    trends.set(channel.id, trend)
    if (await updateEpisode(state, channel, waiting, trend)) backlog.channelsBehind++
  }
  for (let after = 0; ; ) {
    await takeTurn()
    const channels = await listWaitingChannels(db.read, after)
    const counted = await countWaiting(
      db.read,
      channels.map(({ id }) => id),
      now(),
    )
    for (const channel of channels) {
      const waiting = counted.get(channel.id) ?? NOTHING_WAITS
      addTo(backlog, waiting)
      await judge(channel, waiting)
    }
    after = channels.at(-1)?.id ?? after
    if (channels.length < CHANNELS_PER_STEP) break
  }
  for (const channel of await listBehind(db.read)) {
    if (!trends.has(channel.id)) await judge(channel, NOTHING_WAITS)
  }
  state.trends = trends
  state.backlog = backlog
}

function addTo(backlog: Backlog, { waiting, due, oldest, oldestDue }: WaitingDeliveries) {
  backlog.waiting += waiting
  backlog.due += due
  backlog.oldest = earlier(backlog.oldest, oldest)
  backlog.oldestDue = earlier(backlog.oldestDue, oldestDue)
}

const earlier = (a: number | null, b: number | null) => (a === null || b === null ? (a ?? b) : Math.min(a, b))

const COLUMNS = sql.raw('id, workspace_id, type, enabled, failing_since, paused_until, behind_since')

/** The enabled channels that a delivery waits for, after this id. Steps on the index from channel to channel. */
async function listWaitingChannels(connection: Connection, after: number): Promise<WatchedChannel[]> {
  const { rows } = await sql<WatchedChannel>`
    with recursive waiting (channel_id) as (
      select min(channel_id) from deliveries where status = 'waiting' and channel_id > ${after}
      union all
      select (select min(channel_id) from deliveries
        where status = 'waiting' and channel_id > waiting.channel_id)
      from waiting where channel_id is not null
    )
    select ${COLUMNS} from waiting cross join channels
    where id = waiting.channel_id and enabled = 1 limit ${CHANNELS_PER_STEP}`.execute(connection)
  return rows
}

async function listBehind(connection: Connection): Promise<WatchedChannel[]> {
  const { rows } = await sql<WatchedChannel>`
    select ${COLUMNS} from channels where behind_since is not null order by id`.execute(connection)
  return rows
}

/** @returns whether the channel is behind now */
async function updateEpisode(
  state: WatchState,
  channel: WatchedChannel,
  waiting: WaitingDeliveries,
  trend: BacklogTrend,
): Promise<boolean> {
  if (channel.behind_since === null) {
    if (!isFallingBehind(trend) || waitsOnPurpose(channel, state.now())) return false
    await beginEpisode(state, channel, waiting)
    return true
  }
  if (channel.enabled === 1 && !hasCaughtUp(trend)) return true
  await endEpisode(state, channel)
  return false
}

/** Nobody has confirmed the mails yet, or the mails of the day are used up: that is not the receiver's fault. */
const waitsOnPurpose = ({ failing_since, paused_until }: WatchedChannel, now: number) =>
  failing_since === null && paused_until !== null && paused_until > now

async function beginEpisode(
  { db, now, wake }: WatchState,
  { id, workspace_id, type }: WatchedChannel,
  { due, oldestDue }: WaitingDeliveries,
): Promise<void> {
  const at = now()
  await db.write(async (connection, onCommit) => {
    // Two processes may begin episodes of two channels of a workspace, and its owners get one mail.
    if (db.engine === 'postgres')
      await sql`select id from workspaces where id = ${workspace_id} for no key update`.execute(connection)
    const channels = connection.updateTable('channels').where('workspace_id', '=', workspace_id)
    const begun = await channels
      .set({ behind_since: at })
      .where('id', '=', id)
      .where('behind_since', 'is', null)
      .executeTakeFirst()
    if (begun.numUpdatedRows === 0n) return
    onCommit(() =>
      log.warn('deliveries_fall_behind', {
        workspace: workspace_id,
        channel: id,
        type,
        due,
        oldestDueSeconds: Math.round((at - (oldestDue ?? at)) / 1000),
      }),
    )
    if (await wereOwnersTold(connection, workspace_id, at)) return
    await channels.set({ behind_noticed_at: at }).where('id', '=', id).execute()
    await enqueueOwnerNotice(connection, CHANNEL_BEHIND, { workspaceId: workspace_id, channelId: id, at })
    onCommit(wake)
  })
}

/** Owners get at most one such mail a day, however many channels fall behind. */
async function wereOwnersTold(connection: Connection, workspaceId: number, at: number): Promise<boolean> {
  const told = await connection
    .selectFrom('channels')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('behind_noticed_at', '>', at - DAY_MS)
    .limit(1)
    .executeTakeFirst()
  return told !== undefined
}

async function endEpisode(
  { db, now }: WatchState,
  { id, workspace_id, enabled, behind_since }: WatchedChannel,
): Promise<void> {
  const at = now()
  await db.write(async (connection, onCommit) => {
    const { numUpdatedRows } = await connection
      .updateTable('channels')
      .set({ behind_since: null })
      .where('workspace_id', '=', workspace_id)
      .where('id', '=', id)
      .where('behind_since', 'is not', null)
      .executeTakeFirst()
    if (numUpdatedRows === 0n || enabled === 0) return
    const afterSeconds = Math.round((at - (behind_since ?? at)) / 1000)
    onCommit(() => log.info('deliveries_caught_up', { workspace: workspace_id, channel: id, afterSeconds }))
  })
}
