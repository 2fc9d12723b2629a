// The listeners of live streams on this node. All listeners of a workspace get the same bytes, read from the store
// once. Slow readers, and listeners with an expired key or session, are closed; their clients connect again.

import { Failure } from '../../lib/failure.ts'
import { describeError, log } from '../../lib/log.ts'
import {
  createWorkspaceFeed,
  type LiveFrame,
  type WorkspaceFeed,
  type WorkspaceFeedNeeds,
} from './workspace-feed.ts'

const LISTENERS_PER_WORKSPACE = 1000
const STEP_MS = 2_000
const HEARTBEAT_MS = 15_000
/** A key or a session that has ended closes its streams after this time. */
const RECHECK_MS = 5_000
/** A few minutes of a busy workspace. */
const BEHIND_BYTES_MAX = 256 * 1024

export interface ListenerRequest {
  workspaceId: number
  /** The same for all listeners with the same key or session. */
  credential: string
  /** Whether the credential is still valid. */
  isValid: () => Promise<boolean>
  /** The stream ends after this time. */
  endsAfterMs?: number
}

interface Listener extends Pick<ListenerRequest, 'credential' | 'isValid'> {
  controller: ReadableStreamDefaultController<Uint8Array>
  end: () => void
}

interface Channel {
  feed: WorkspaceFeed
  listeners: Set<Listener>
  timers: Timer[]
  isStepping: boolean
  isFailing: boolean
}

export interface LiveHub {
  /** @throws Failure `too_many` where the workspace has too many listeners */
  listen(request: ListenerRequest): ReadableStream<Uint8Array>
  /** Ends all streams. */
  close(): void
}

const encoder = new TextEncoder()

/** The format of https://html.spec.whatwg.org/multipage/server-sent-events.html. JSON has no line ends. */
const toBytes = (frames: LiveFrame[]) =>
  encoder.encode(
    frames.map(({ event, data }) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`).join(''),
  )

const HELLO = encoder.encode('retry: 3000\n\n')
const HEARTBEAT = encoder.encode(': heartbeat\n\n')

export function createLiveHub(
  needs: WorkspaceFeedNeeds,
  { stepMs = STEP_MS, recheckMs = RECHECK_MS } = {},
): LiveHub {
  const channels = new Map<number, Channel>()
  let isClosed = false

  function openChannel(workspaceId: number): Channel {
    const channel: Channel = {
      feed: createWorkspaceFeed(needs, workspaceId),
      listeners: new Set(),
      timers: [],
      isStepping: false,
      isFailing: false,
    }
    channel.timers.push(
      setInterval(() => void stepOn(channel, workspaceId), stepMs),
      setInterval(() => send(channel, HEARTBEAT), HEARTBEAT_MS),
      setInterval(() => void recheck(channel), recheckMs),
    )
    channels.set(workspaceId, channel)
    void stepOn(channel, workspaceId)
    return channel
  }

  function remove(workspaceId: number, channel: Channel, listener: Listener) {
    channel.listeners.delete(listener)
    if (channel.listeners.size > 0 || channels.get(workspaceId) !== channel) return
    for (const timer of channel.timers) clearInterval(timer)
    channels.delete(workspaceId)
  }

  return {
    listen({ workspaceId, endsAfterMs, ...credentials }) {
      const channel = channels.get(workspaceId) ?? openChannel(workspaceId)
      if (channel.listeners.size >= LISTENERS_PER_WORKSPACE)
        throw new Failure('too_many', 'This workspace has too many live streams. Close some of them.', {
          retryAfter: 30,
        })
      let listener: Listener
      return new ReadableStream<Uint8Array>(
        {
          start(controller) {
            const end = () => {
              if (!channel.listeners.has(listener)) return
              remove(workspaceId, channel, listener)
              controller.close()
            }
            listener = { ...credentials, controller, end }
            channel.listeners.add(listener)
            controller.enqueue(HELLO)
            const start = channel.feed.getStart()
            if (start.length > 0) controller.enqueue(toBytes(start))
            if (isClosed || endsAfterMs === 0) end()
            else if (endsAfterMs !== undefined) setTimeout(end, endsAfterMs).unref()
          },
          cancel: () => remove(workspaceId, channel, listener),
        },
        new ByteLengthQueuingStrategy({ highWaterMark: 16 * 1024 }),
      )
    },
    close() {
      isClosed = true
      for (const { listeners } of channels.values()) for (const { end } of listeners) end()
    },
  }
}

function send({ listeners }: Channel, bytes: Uint8Array) {
  for (const { controller, end } of listeners) {
    if ((controller.desiredSize ?? 0) < -BEHIND_BYTES_MAX) end()
    else controller.enqueue(bytes)
  }
}

/** Logs an unavailable store once; the next step tries again. */
async function stepOn(channel: Channel, workspaceId: number): Promise<void> {
  if (channel.isStepping) return
  channel.isStepping = true
  try {
    const frames = await channel.feed.step()
    channel.isFailing = false
    if (frames.length > 0) send(channel, toBytes(frames))
  } catch (error) {
    if (!channel.isFailing) log.warn('live_feed_failed', { workspace: workspaceId, ...describeError(error) })
    channel.isFailing = true
  } finally {
    channel.isStepping = false
  }
}

/** Asks once for each key and session. An answer that cannot be read now ends nothing. */
async function recheck({ listeners }: Channel): Promise<void> {
  for (const group of Map.groupBy(listeners, ({ credential }) => credential).values()) {
    const isValid = await group[0]?.isValid().catch(() => true)
    if (!isValid) for (const { end } of group) end()
  }
}
