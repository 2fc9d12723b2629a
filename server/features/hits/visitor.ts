// Who a visitor is for one day, without keeping who they are: a keyed hash under a salt that is destroyed afterwards.

import { randomBytes } from 'node:crypto'

const DAY_MS = 24 * 60 * 60 * 1000

export interface Salt {
  /** UTC day, `2026-01-31`. */
  day: string
  /** 256 bits in hex. */
  salt: string
}

export const dayOf = (at: number) => new Date(at).toISOString().slice(0, 10)

/** The salt of a moment's day. */
export type SaltOf = (at: number) => Uint8Array

/**
 * Salts by day. A hit that waited until its day's salt was destroyed gets one that is made up for that day and
 * lives in this memory alone: its visitors can still be told apart, and nothing more.
 */
export function createSaltBook(): { set(salts: Salt[]): void; of: SaltOf } {
  const salts = new Map<number, Uint8Array>()
  const madeUp = new Map<number, Uint8Array>()
  return {
    set(given) {
      salts.clear()
      for (const { day, salt } of given) {
        const number = Date.parse(day) / DAY_MS
        salts.set(number, Buffer.from(salt, 'hex'))
        madeUp.delete(number)
      }
    },
    of(at) {
      const day = Math.floor(at / DAY_MS)
      const salt = salts.get(day) ?? madeUp.get(day)
      if (salt) return salt
      if (madeUp.size >= 1000) madeUp.clear()
      const made = randomBytes(32)
      madeUp.set(day, made)
      return made
    },
  }
}

/** 64 bits as decimal digits. HMAC-SHA-256 takes 0.45 µs here, keyed BLAKE2b 1.1 µs. */
export function visitorOf(
  of: { workspaceId: number; address: string; userAgent: string },
  salt: Uint8Array,
): string {
  const hasher = new Bun.CryptoHasher('sha256', salt)
  hasher.update(`${of.workspaceId}|${of.address}|${of.userAgent}`)
  return hasher.digest().readBigUInt64BE(0).toString()
}
