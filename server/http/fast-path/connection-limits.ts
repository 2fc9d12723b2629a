// Maximum number of connections of the public socket, computed from the process's limit on file descriptors.

import { readFileSync } from 'node:fs'

export interface ConnectionLimits {
  /** Connections of all clients. */
  total: number
  /** Connections of one address (IPv4) or one /64 (IPv6). */
  perAddress: number
  /** Connections that are relayed to the server behind, or keep a connection to it for later. */
  relayed: number
  relayedPerAddress: number
}

/** The default if the system does not tell: most systems give a process at least this many. */
const DESCRIPTORS_UNKNOWN = 1024

/** More connections would only use memory: each needs 1 KB here and up to 1 MB in the kernel. */
const [TOTAL_MAX, RELAYED_MAX] = [65_536, 2_048]

/** The descriptors of the stores, the hit worker and outgoing requests: an eighth of all, but 64 to 1,024. */
const [RESERVE_MIN, RESERVE_MAX] = [64, 1_024]

/**
 * A relayed connection takes three descriptors: the client's, and both ends of the connection to the server behind,
 * which is in this process. Relays get half of the descriptors, so that plain redirects always have the other half.
 */
export function deriveConnectionLimits(descriptors: number): ConnectionLimits {
  const reserve = Math.min(Math.max(Math.floor(descriptors / 8), RESERVE_MIN), RESERVE_MAX)
  const available = Math.max(descriptors - reserve, 16)
  const relayed = Math.min(Math.floor(available / 4), RELAYED_MAX)
  const total = Math.min(available - 2 * relayed, TOTAL_MAX)
  // A quarter is more than the people behind one address of a mobile carrier hold open, and four addresses are needed
  // to reach the total.
  return {
    total,
    perAddress: Math.ceil(total / 4),
    relayed,
    relayedPerAddress: Math.ceil(relayed / 4),
  }
}

/** The soft limit, which the runtime raises to the hard limit at its start (Linux: proc(5), `/proc/pid/limits`). */
export function readDescriptorLimit(): number {
  try {
    const text = readFileSync('/proc/self/limits', 'utf8')
    const limit = /^Max open files\s+(\S+)/m.exec(text)?.[1]
    if (limit === 'unlimited') return TOTAL_MAX * 4
    return Number(limit) || DESCRIPTORS_UNKNOWN
  } catch {
    return DESCRIPTORS_UNKNOWN
  }
}
