// One-time passwords against the numbers of RFC 6238, appendix B.

import { expect, test } from 'bun:test'
import { computeTotpCode, createTotpSecret, findTotpStep, toTotpStep, toTotpUri } from './totp.ts'

/** The secret of the RFC, `12345678901234567890`, in base32. */
const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'

test('computes the codes of RFC 6238', () => {
  // The RFC shows eight digits. Six digits are the last six of them.
  for (const [seconds, code] of [
    [59, '94287082'],
    [1_111_111_109, '07081804'],
    [1_111_111_111, '14050471'],
    [1_234_567_890, '89005924'],
    [2_000_000_000, '69279037'],
    [20_000_000_000, '65353130'],
  ] as const) {
    expect(computeTotpCode(SECRET, toTotpStep(seconds * 1000))).toBe(code.slice(-6))
  }
})

test('accepts the code of the step before and after, and no other one', () => {
  const now = 1_234_567_890_000
  const step = toTotpStep(now)
  const accepted = [-2, -1, 0, 1, 2].map((n) => findTotpStep(SECRET, computeTotpCode(SECRET, step + n), now))
  expect(accepted).toEqual([undefined, step - 1, step, step + 1, undefined])
  for (const text of ['', '12345', '0050924', 'ÄÄÄ', '００５９２４']) {
    expect(findTotpStep(SECRET, text, now)).toBeUndefined()
  }
})

test('makes secrets of 160 random bits, and an address that apps can read', () => {
  const secrets = new Set(Array.from({ length: 50 }, createTotpSecret))
  expect(secrets.size).toBe(50)
  for (const secret of secrets) expect(secret).toMatch(/^[A-Z2-7]{32}$/)
  const uri = new URL(toTotpUri(SECRET, 'Towpath (go.example)', 'a+b@example.com'))
  expect(uri.protocol + uri.host).toBe('otpauth:totp')
  expect(decodeURIComponent(uri.pathname)).toBe('/Towpath (go.example):a+b@example.com')
  expect(Object.fromEntries(uri.searchParams)).toEqual({ secret: SECRET, issuer: 'Towpath (go.example)' })
})
