// Time-based one-time passwords (RFC 6238), as authenticator apps show them: SHA-1, six digits, a new code every 30 s.
// These are the only parameters that all apps support.

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

const STEP_MS = 30_000
const DIGITS = 6
/** RFC 4226 section 4 recommends 160 bits. */
const SECRET_BYTES = 20
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** A new secret in base32 (RFC 4648), as people type it. */
export const createTotpSecret = (): string => {
  const bits = [...randomBytes(SECRET_BYTES)].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  return (bits.match(/.{5}/g) ?? []).map((five) => BASE32[Number.parseInt(five, 2)]).join('')
}

function decodeBase32(secret: string): Buffer {
  const bits = [...secret].map((letter) => BASE32.indexOf(letter).toString(2).padStart(5, '0')).join('')
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((eight) => Number.parseInt(eight, 2)))
}

export const toTotpStep = (now: number) => Math.floor(now / STEP_MS)

/** @param step the number of the code since 1970 */
export function computeTotpCode(secret: string, step: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const digest = createHmac('sha1', decodeBase32(secret)).update(counter).digest()
  // RFC 4226 section 5.3: the last four bits choose where the 31 bits of the code start.
  const number = digest.readUInt32BE((digest[19] as number) & 15) & 0x7fff_ffff
  return String(number % 10 ** DIGITS).padStart(DIGITS, '0')
}

/**
 * Accepts the codes before and after the current one too, because clocks differ (RFC 6238 section 5.2).
 * @returns the step of the code, which must be used only once; undefined for a wrong code
 */
export function findTotpStep(secret: string, code: string, now: number): number | undefined {
  const typed = Buffer.from(code)
  const current = toTotpStep(now)
  return [current, current - 1, current + 1].find((step) => {
    const expected = Buffer.from(computeTotpCode(secret, step))
    return typed.length === expected.length && timingSafeEqual(typed, expected)
  })
}

/** The address that a QR code shows to an authenticator app. */
export function toTotpUri(secret: string, issuer: string, account: string): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(account)}`
  return `otpauth://totp/${label}?secret=${secret}&issuer=${encodeURIComponent(issuer)}`
}
