// Counts the connections of the public socket: all, those of each address, and those that are relayed. At a limit, a
// connection that waits for its next request makes room, oldest first.

import type { Socket } from 'bun'
import { isInNetworks, type Network } from '../../lib/ip-network.ts'
import { toRateLimitKey } from '../client-address.ts'
import type { ConnectionLimits } from './connection-limits.ts'
import type { TcpRelay } from './tcp-relay.ts'

export interface ConnectionState {
  address: string
  peer: Peer
  relay: TcpRelay | null
  /** While set, incoming bytes go to the relay. */
  relaying: boolean
  /** While set, the fast path computes an answer, and incoming bytes wait for it. */
  answering: boolean
  /** The bytes that came meanwhile. */
  next: Buffer | null
  /** The part of an answer that the visitor has not taken yet. */
  unsent: Buffer | null
  endWhenSent: boolean
  /** Bytes of answers given by the fast path. */
  written: number
  /** Set by each answer. The next check that makes room clears it and spares the connection once. */
  recent: boolean
  /** The server has sent its last bytes, and waits for the client to close. */
  ending: boolean
}

export type Client = Socket<ConnectionState>

/** The connections of one address. */
interface Peer {
  key: string
  open: number
  relays: number
  waiting: Set<Client>
  /** Idle connections that keep a connection to the general HTTP server. */
  resting: Set<Client>
  /** A proxy that the operator trusts: the connections are those of many people. */
  isProxy: boolean
}

export interface ConnectionCounts {
  open: number
  relayed: number
  /** Connections that were closed at once because of a limit. */
  refused: number
  /** Connections without a request that made room for others. */
  evicted: number
  /** Connections that were closed because they made no progress. */
  stalled: number
  /** Requests that got 503, because all connections to the general HTTP server were in use. */
  busy: number
}

export interface Connections {
  counts: ConnectionCounts
  /** Connections that wait for their next request. */
  waiting: ReadonlySet<Client>
  /** Connections whose requests are relayed now. */
  relaying: Set<Client>
  /** Connections with their last answer, and the deadline for their clients to receive it. */
  ending: Map<Client, number>
  /** Counts a new connection. @returns null if the limit is reached */
  admit(address: string): ConnectionState | null
  /** The connection waits for its next request. */
  wait(client: Client): void
  /** The connection has a request that is relayed. */
  relay(client: Client): void
  /** The connection has a request that the fast path answers later. */
  answerLater(client: Client): void
  /** The connection was closed. */
  remove(client: Client): void
  /** Counts one more relay. @returns false if the limit is reached */
  takeRelay(peer: Peer): boolean
  returnRelay(peer: Peer): void
  /** Ends every connection that waits for a request. */
  endWaiting(): void
  /** Reduces the limit while the process has no free descriptors. */
  setExhausted(exhausted: boolean): void
  /** Whether there are so many relays that slow ones must be closed. */
  isCrowded(): boolean
}

interface State {
  limits: ConnectionLimits
  trusted: Network[]
  counts: ConnectionCounts
  peers: Map<string, Peer>
  waiting: Set<Client>
  resting: Set<Client>
  relaying: Set<Client>
  ending: Map<Client, number>
  /** At most `limits.total`; less after the process ran out of descriptors. */
  ceiling: number
  exhausted: boolean
}

const CROWDED = 0.9
/**
 * When descriptors run out, one connection in eight is closed. The limit rises by the same share at each later check.
 */
const STEP = 1 / 8

export function createConnections(limits: ConnectionLimits, trusted: Network[]): Connections {
  const state: State = {
    limits,
    trusted,
    counts: { open: 0, relayed: 0, refused: 0, evicted: 0, stalled: 0, busy: 0 },
    peers: new Map(),
    waiting: new Set(),
    resting: new Set(),
    relaying: new Set(),
    ending: new Map(),
    ceiling: limits.total,
    exhausted: false,
  }
  const { counts, relaying, ending, waiting } = state
  return {
    counts,
    waiting,
    relaying,
    ending,
    admit: (address) => admit(state, address),
    wait: (client) => wait(state, client),
    relay(client) {
      stopWaiting(state, client)
      relaying.add(client)
    },
    answerLater: (client) => stopWaiting(state, client),
    remove: (client) => remove(state, client),
    takeRelay: (peer) => takeRelay(state, peer),
    returnRelay(peer) {
      counts.relayed--
      peer.relays--
      dropUnused(state, peer)
    },
    endWaiting() {
      for (const client of waiting) endIdle(client)
    },
    setExhausted: (exhausted) => setExhausted(state, exhausted),
    isCrowded: () => state.exhausted || counts.relayed >= limits.relayed * CROWDED,
  }
}

function admit(state: State, address: string): ConnectionState | null {
  const { counts, limits } = state
  const peer = findPeer(state, address)
  const hasRoom =
    (peer.isProxy || peer.open < limits.perAddress || evict(state, peer.waiting)) &&
    (counts.open < state.ceiling || evictAny(state))
  if (!hasRoom) {
    counts.refused++
    dropUnused(state, peer)
    return null
  }
  counts.open++
  peer.open++
  // The closed connection can have been the only one of this address.
  state.peers.set(peer.key, peer)
  return {
    address,
    peer,
    relay: null,
    relaying: false,
    answering: false,
    next: null,
    unsent: null,
    endWhenSent: false,
    written: 0,
    recent: false,
    ending: false,
  }
}

function findPeer({ peers, trusted }: State, address: string): Peer {
  const isProxy = trusted.length > 0 && isInNetworks(address, trusted)
  // A trusted network may be narrower than a /64.
  const key = address.includes(':') && !isProxy ? toRateLimitKey(address) : address
  const known = peers.get(key)
  if (known) return known
  const peer = { key, open: 0, relays: 0, waiting: new Set<Client>(), resting: new Set<Client>(), isProxy }
  peers.set(key, peer)
  return peer
}

function dropUnused({ peers }: State, peer: Peer): void {
  if (peer.open === 0 && peer.relays === 0 && peers.get(peer.key) === peer) peers.delete(peer.key)
}

function wait({ waiting, resting, relaying }: State, client: Client): void {
  const { peer, relay } = client.data
  relaying.delete(client)
  waiting.add(client)
  peer.waiting.add(client)
  if (!relay) return
  resting.add(client)
  peer.resting.add(client)
}

function stopWaiting({ waiting, resting }: State, client: Client): void {
  const { peer, relay } = client.data
  waiting.delete(client)
  peer.waiting.delete(client)
  if (!relay) return
  resting.delete(client)
  peer.resting.delete(client)
}

function remove(state: State, client: Client): void {
  const { peer } = client.data
  stopWaiting(state, client)
  state.relaying.delete(client)
  state.ending.delete(client)
  state.counts.open--
  peer.open--
  dropUnused(state, peer)
}

function takeRelay(state: State, peer: Peer): boolean {
  const { counts, limits, resting } = state
  const hasRoom =
    (peer.isProxy || peer.relays < limits.relayedPerAddress || closeResting(peer.resting)) &&
    (counts.relayed < limits.relayed || closeResting(resting))
  if (!hasRoom) {
    counts.busy++
    return false
  }
  counts.relayed++
  peer.relays++
  state.peers.set(peer.key, peer)
  return true
}

/** Closes an idle connection to the general HTTP server. Its client stays connected. */
function closeResting(resting: Set<Client>): boolean {
  for (const client of resting) {
    const { peer, relay } = client.data
    peer.resting.delete(client)
    resting.delete(client)
    client.data.relay = null
    // The general HTTP server may have closed it already.
    if (!relay?.isResting()) continue
    relay.close()
    return true
  }
  return false
}

function evictAny(state: State): boolean {
  for (const client of state.ending.keys()) {
    client.terminate()
    return true
  }
  return evict(state, state.waiting)
}

/** Maximum number of spared connections before one is closed anyway, because checking all would take too long. */
const SPARED_MAX = 64

function evict({ counts }: State, waiting: Set<Client>): boolean {
  let spared = 0
  for (const client of waiting) {
    if (client.data.recent && spared++ < SPARED_MAX) {
      client.data.recent = false
      // It comes last now.
      waiting.delete(client)
      waiting.add(client)
      continue
    }
    counts.evicted++
    endIdle(client)
    return true
  }
  return false
}

/** Bytes that certainly fit into the kernel's buffer, so that the client may not have received them. */
const WRITTEN_MAX = 16 * 1024

/** Ends a connection without a request. Answers that the client may not have taken must not stay in the kernel. */
export function endIdle(client: Client): void {
  if (client.data.unsent || client.data.written > WRITTEN_MAX) client.terminate()
  else client.end()
}

function setExhausted(state: State, exhausted: boolean): void {
  const { counts, limits } = state
  state.exhausted = exhausted
  if (!exhausted) {
    state.ceiling = Math.min(limits.total, Math.ceil(state.ceiling * (1 + STEP)))
    return
  }
  state.ceiling = Math.max(1, Math.floor(counts.open * (1 - STEP)))
  while (counts.open > state.ceiling && evictAny(state));
}
