// Keeps connections to receivers open for some seconds, so that many requests in a row need one TLS handshake. A pool
// belongs to one origin and its checked addresses, so a new DNS answer never uses an old connection.

import http from 'node:http'
import https from 'node:https'

/** Shorter than the 5 s after which Node.js, and so many receivers, ends an idle connection. */
const IDLE_MS = 4_000
/** Maximum age: a receiver can move to other machines behind the same address. */
const AGE_MAX_MS = 30_000
/**
 * Maximum number of origins with open connections. One more closes the pool that has been idle longest, because
 * descriptors are limited.
 */
const POOLS_MAX = 16
const IDLE_CONNECTIONS_MAX = 16

interface Pool {
  key: string
  agent: http.Agent
  /** Requests that use a connection now. */
  running: number
  /** On the monotonic clock. */
  openedAt: number
  idleTimer: Timer | undefined
}

/** In the order of their last use. */
const pools = new Map<string, Pool>()

export interface PooledConnections {
  agent: http.Agent
  /** Call it once, when the request has ended. */
  release(): void
}

/** @param addresses every one of them was checked for the request that takes the connections */
export function takeConnections(url: URL, addresses: string[]): PooledConnections {
  const key = `${url.origin} ${addresses.toSorted().join(' ')}`
  const pool = findYoung(key) ?? openPool(key, url.protocol === 'https:')
  clearTimeout(pool.idleTimer)
  pool.running++
  pools.delete(key)
  pools.set(key, pool)
  endLongestIdle()
  return { agent: pool.agent, release: () => release(pool) }
}

/** An old pool ends with the last of its requests. */
function findYoung(key: string): Pool | undefined {
  const pool = pools.get(key)
  if (pool && performance.now() - pool.openedAt > AGE_MAX_MS) {
    pools.delete(key)
    endIfUnused(pool)
    return undefined
  }
  return pool
}

function openPool(key: string, isSecure: boolean): Pool {
  const options = { keepAlive: true, maxFreeSockets: IDLE_CONNECTIONS_MAX }
  const agent = isSecure ? new https.Agent(options) : new http.Agent(options)
  return { key, agent, running: 0, openedAt: performance.now(), idleTimer: undefined }
}

function release(pool: Pool) {
  pool.running--
  endIfUnused(pool)
  if (pool.running > 0) return
  pool.idleTimer = setTimeout(endPool, IDLE_MS, pool)
  pool.idleTimer.unref()
}

function endIfUnused(pool: Pool) {
  if (pool.running === 0 && pools.get(pool.key) !== pool) endPool(pool)
}

function endPool(pool: Pool) {
  clearTimeout(pool.idleTimer)
  if (pools.get(pool.key) === pool) pools.delete(pool.key)
  pool.agent.destroy()
}

function endLongestIdle() {
  if (pools.size <= POOLS_MAX) return
  for (const pool of pools.values()) if (pool.running === 0) return endPool(pool)
}
