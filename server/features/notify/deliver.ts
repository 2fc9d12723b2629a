// Delivers what is due: at once when it was written down, and again as the ladder says. Any number of processes may do
// so over the same rows.

import { describeError, log } from '../../lib/log.ts'
import { type AttemptNeeds, attempt } from './attempt.ts'
import type { ChannelRow } from './channel.ts'
import { type Claim, channelsDue, claim, LEASE_MS, releaseLeases, type Turn } from './claim.ts'
import { countDeliveries } from './delivery-figures.ts'
import { notRecorded, recordAttempt } from './record.ts'

export interface DelivererNeeds extends AttemptNeeds {
  now: () => number
  leaseMs?: number
  /** How often it is looked whether something is due. */
  pollMs?: number
}

export interface Deliverer {
  /** Something may be due now. */
  wake(): void
  figures(): ReturnType<ReturnType<typeof countDeliveries>['figures']>
  /** Takes nothing more, and resolves when what is in hand is done, or after 20 seconds: the rest is made once more. */
  close(): Promise<void>
}

/** Attempts at the same time. */
const SLOTS = 32
/** Of these, for channels whose last attempt failed: they may be slow, and the others have to get through. */
const FAILING_SLOTS = 16
/** At the same time to one channel. */
const EACH = 2
const POLL_MS = 1_000
const GATHER_MS = 3
const LOOK_EVERY_MS = 10_000
// Longer than an honest attempt takes.
const CLOSE_MS = 20_000

/** @throws when what a former process had in hand cannot be taken back */
export async function openDeliverer(needs: DelivererNeeds): Promise<Deliverer> {
  const { rows, now, leaseMs = LEASE_MS, pollMs = POLL_MS } = needs
  const flying = new Map<Promise<void>, Claim>()
  const counts = countDeliveries()
  let closed = false
  // Where each round begins: behind the channels whose turn it was.
  const after = { sound: 0, failing: 0 }
  let again = false
  let turning: Promise<void> | undefined
  let timer: Timer | undefined
  let lookedAt = Number.NEGATIVE_INFINITY
  let troubled = false
  await releaseLeases(rows, now())

  const inHand = (of: ChannelRow) => [...flying.values()].filter(({ channel }) => channel.id === of.id)
  const most = (channel: ChannelRow) => (channel.failing_since === null ? EACH : 1) - inHand(channel).length

  /** Whose turn it is, for as many as there is room for. */
  async function turns(): Promise<Turn[]> {
    const busy = [...flying.values()].map(({ channel }) => channel)
    const except = [...new Set(busy.filter((channel) => most(channel) <= 0).map(({ id }) => id))]
    const slow = busy.filter(({ failing_since }) => failing_since !== null).length
    const due = async (failing: boolean, limit: number) => {
      const of = failing ? 'failing' : 'sound'
      const channels = await channelsDue(rows, { now: now(), after: after[of], except, failing, limit })
      after[of] = channels.at(-1)?.id ?? after[of]
      return channels
    }
    const room = SLOTS - flying.size
    const sound = await due(false, room)
    const failing = await due(true, Math.min(FAILING_SLOTS - slow, room - sound.length))
    const found: Turn[] = []
    let left = room
    for (const channel of [...sound, ...failing]) {
      const some = Math.min(most(channel), left)
      if (some > 0) found.push({ channel, most: some, inHand: inHand(channel).map(({ id }) => id) })
      left -= Math.max(0, some)
    }
    return found
  }

  const take = async (some: Turn[]) => (some.length === 0 ? [] : claim(rows, some, now(), leaseMs))

  async function turn() {
    do {
      again = false
      while (!closed && flying.size < SLOTS) {
        // While many are in hand, their ends are waited for together: to look for one costs as much as for ten.
        if (flying.size > SLOTS / 2) await Bun.sleep(GATHER_MS)
        const claims = await take(await turns())
        for (const one of claims) begin(one)
        if (claims.length === 0) break
      }
    } while (again && !closed)
    if (performance.now() - lookedAt > LOOK_EVERY_MS) {
      lookedAt = performance.now()
      await counts.look(rows)
    }
    if (troubled) log.info('deliveries_go_on')
    troubled = false
  }

  function begin(one: Claim) {
    const work = deliver(one).finally(() => {
      flying.delete(work)
      wake()
    })
    flying.set(work, one)
  }

  async function deliver(one: Claim) {
    const [at, began] = [now(), performance.now()]
    const result = await attempt(needs, one, at)
    try {
      if (!result) return await forget(one)
      counts.count(one.channel.type, result.outcome)
      const made = { result, at, tookMs: performance.now() - began, now: now() }
      await recordAttempt(rows, one, made, wake)
    } catch (error) {
      notRecorded(one, error)
    }
  }

  /** There is nothing to say any more. */
  const forget = async ({ id, workspaceId }: Claim): Promise<void> => {
    await rows.write((db) =>
      db.deleteFrom('deliveries').where('workspace_id', '=', workspaceId).where('id', '=', id).execute(),
    )
  }

  function wake() {
    if (closed) return
    if (turning) {
      again = true
      return
    }
    clearTimeout(timer)
    turning = turn()
      .catch((error) => {
        // Said once, not every second: the store is away, and nothing is lost by waiting for it.
        if (!troubled) log.warn('deliveries_wait', describeError(error))
        troubled = true
        again = false
      })
      .finally(() => {
        turning = undefined
        if (again) wake()
        else if (!closed) timer = setTimeout(wake, pollMs)
      })
  }

  wake()
  return {
    wake,
    figures: () => counts.figures(now()),
    async close() {
      closed = true
      clearTimeout(timer)
      await turning
      await Promise.race([Promise.all(flying.keys()), Bun.sleep(CLOSE_MS)])
    },
  }
}
