// Who a visitor is for one day, without keeping who they are: a keyed hash under a salt that is destroyed afterwards.

import { randomBytes } from 'node:crypto'

const DAY_MS = 24 * 60 * 60 * 1000

export interface DailySalt {
  /** UTC day, `2026-01-31`. */
  day: string
  /** 256 bits in hex. */
  salt: string
}

export const toUtcDay = (at: number) => new Date(at).toISOString().slice(0, 10)

/** The salt of a moment's day. */
export type SaltLookup = (at: number) => string

/**
 * Salts by day. A hit that waited until its day's salt was destroyed gets one that is made up for that day and
 * lives in this memory alone: its visitors can still be told apart, and nothing more.
 */
export function createDailySalts(): { set(salts: DailySalt[]): void; of: SaltLookup } {
  const salts = new Map<number, string>()
  const madeUp = new Map<number, string>()
  return {
    set(given) {
      salts.clear()
      for (const { day, salt } of given) {
        const number = Date.parse(day) / DAY_MS
        salts.set(number, salt)
        madeUp.delete(number)
      }
    },
    of(at) {
      const day = Math.floor(at / DAY_MS)
      const salt = salts.get(day) ?? madeUp.get(day)
      if (salt) return salt
      if (madeUp.size >= 1000) madeUp.clear()
      const made = randomBytes(32).toString('hex')
      madeUp.set(day, made)
      return made
    },
  }
}

const digest = new Uint8Array(32)
const halves = new DataView(digest.buffer)

/**
 * 64 bits as two halves. The salt, in hex, fills the first block of SHA-256; what is kept of the digest is too little to
 * go on hashing from, so it is as good as an HMAC at 60 % of its time, and leaves nothing behind to be collected.
 */
export function toVisitorId(
  of: { workspaceId: number; address: string; userAgent: string },
  salt: string,
): { high: number; low: number } {
  Bun.SHA256.hash(`${salt}${of.workspaceId}|${of.address}|${of.userAgent}`, digest)
  return { high: halves.getUint32(0), low: halves.getUint32(4) }
}
