// Events of new clicks: reads the batches of this node after its mark, and moves the mark in the transaction that
// stores the deliveries. So each click is in one delivery, whichever process is killed, and whether the engine is up or not.

import { createPacer, nextTurn } from '../../../lib/concurrency/next-turn.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import type { Hit } from '../../../storage/hits/hit.ts'
import type { BatchPosition } from '../../hits/batches/new-clicks.ts'
import type { HitWorkerClient } from '../../hits/worker/client.ts'
import { type EventFacts, passesFilter } from '../../notify/events/channel-filter.ts'
import { type EventLink, type LinkOwner, readEventLinks } from '../../notify/events/read-links.ts'
import { insertDeliveries } from '../../notify/outbox/enqueue-deliveries.ts'
import { moveClickMark, readClickMark } from './click-mark.ts'
import { toClickFacts, toClickRow } from './click-row.ts'

export interface ClickAnnouncerNeeds {
  db: Database
  hits: Pick<HitWorkerClient, 'readNewClicks' | 'state'>
  node: string
  /** `https://go.example` */
  origin: string
  now: () => number
}

/** In one delivery. */
const CLICKS_MAX = 500
/** In one transaction. */
const CLICKS_AT_ONCE = 4 * CLICKS_MAX
/** In one query: one for thousands takes some milliseconds to write. */
const LINKS_AT_ONCE = 100
/** While no channel subscribes to clicks, the mark moves in steps of this length. */
const IDLE_MS = 60_000

interface ClickSubscriber {
  id: number
  workspace_id: number
  filter: string | null
  created_at: number
}

export interface ClickAnnouncer {
  /** Tells of all clicks that are in batches. One call at a time. */
  run(): Promise<void>
}

export function createClickAnnouncer(needs: ClickAnnouncerNeeds): ClickAnnouncer {
  const { db, hits, node, now } = needs
  let isFirst = true
  let movedAt = Number.NEGATIVE_INFINITY
  return {
    async run() {
      const mark = await readClickMark(db, node)
      const subscribers = await listSubscribers(db)
      if (subscribers.length === 0) {
        const { batch } = hits.state()
        if (batch <= mark.batch || now() - movedAt < IDLE_MS) return
        await db.write((connection) => moveClickMark(connection, node, mark, { batch, hit: 0 }))
        movedAt = now()
        return
      }
      // A worker that sleeps has written nothing new since it was asked. After a start, nobody knows.
      if (!isFirst && hits.state().batch <= mark.batch) return
      await tellAll(needs, subscribers, mark)
      isFirst = false
    },
  }
}

async function tellAll(
  needs: ClickAnnouncerNeeds,
  first: ClickSubscriber[],
  mark: BatchPosition,
): Promise<void> {
  const { db, hits, node, now } = needs
  const links = new Map<number, EventLink>()
  for (let [subscribers, after, hasMore] = [first, mark, true]; hasMore; ) {
    const workspaceIds = [...new Set(subscribers.map(({ workspace_id }) => workspace_id))]
    const read = await hits.readNewClicks({ after, workspaceIds, limit: CLICKS_AT_ONCE })
    const { position } = read
    if (position.batch === after.batch && position.hit === after.hit) return
    const deliveries = await toDeliveries(needs, subscribers, read.clicks, links)
    const from = after
    const hasMoved = await db.write(async (connection) => {
      if (!(await moveClickMark(connection, node, from, position))) return false
      const at = now()
      for (const delivery of deliveries) {
        // A quarter of a megabyte each: redirects run in between.
        await nextTurn()
        await insertDeliveries(connection, [delivery], at)
      }
      return true
    })
    if (!hasMoved) return
    after = position
    hasMore = read.hasMore
    // A backlog takes minutes, and channels are deleted meanwhile.
    if (hasMore) subscribers = await listSubscribers(db)
  }
}

/** Of all workspaces: the job is the server's own. */
function listSubscribers({ read }: Database): Promise<ClickSubscriber[]> {
  return read
    .selectFrom('channels')
    .select(['id', 'workspace_id', 'filter', 'created_at'])
    .where('enabled', '=', 1)
    .where('events', 'like', '%"link.clicked"%')
    .orderBy('id')
    .execute()
}

type ClickDeliveries = Parameters<typeof insertDeliveries>[1]

/** @param links the known links; the function adds others */
async function toDeliveries(
  { db, origin }: ClickAnnouncerNeeds,
  subscribers: ClickSubscriber[],
  clicks: Hit[],
  links: Map<number, EventLink>,
): Promise<ClickDeliveries> {
  const byWorkspace = Map.groupBy(clicks, ({ workspaceId }) => workspaceId)
  const deliveries: ClickDeliveries = []
  for (const [workspaceId, hits] of byWorkspace) {
    await addMissingLinks(db, { workspaceId, origin }, hits, links)
    const told = await describeClicks(hits, links)
    for (const channel of subscribers.filter(({ workspace_id }) => workspace_id === workspaceId)) {
      const wanted = await selectClicks(channel, told)
      for (let from = 0; from < wanted.length; from += CLICKS_MAX) {
        const part = wanted.slice(from, from + CLICKS_MAX)
        deliveries.push({
          workspace_id: workspaceId,
          submission_id: null,
          channel_id: channel.id,
          event: 'link.clicked',
          payload: `{"count":${part.length},"clicks":[${part.join()}]}`,
        })
      }
    }
  }
  return deliveries
}

async function addMissingLinks(
  { read }: Database,
  owner: LinkOwner,
  hits: Hit[],
  links: Map<number, EventLink>,
): Promise<void> {
  const ids = [...new Set(hits.map(({ linkId }) => linkId))].filter((id) => !links.has(id))
  for (let from = 0; from < ids.length; from += LINKS_AT_ONCE) {
    const found = await readEventLinks(read, owner, ids.slice(from, from + LINKS_AT_ONCE))
    for (const [id, link] of found) links.set(id, link)
  }
}

/** A click in the form that the channels of its workspace get. */
interface ToldClick {
  at: number
  /** JSON */
  text: string
  getFacts(): EventFacts
}

async function describeClicks(hits: Hit[], links: Map<number, EventLink>): Promise<ToldClick[]> {
  const pause = createPacer()
  const told: ToldClick[] = []
  for (const hit of hits) {
    await pause()
    const link = links.get(hit.linkId)
    const click = toClickRow(hit, link)
    told.push({ at: hit.at, text: JSON.stringify(click), getFacts: () => toClickFacts(click, link) })
  }
  return told
}

/** A new channel is not told of clicks from before it was there. */
async function selectClicks(
  { filter, created_at: since }: ClickSubscriber,
  told: ToldClick[],
): Promise<string[]> {
  const pause = createPacer()
  const wanted: string[] = []
  for (const { at, text, getFacts } of told) {
    await pause()
    if (at >= since && (filter === null || passesFilter(filter, getFacts()))) wanted.push(text)
  }
  return wanted
}
