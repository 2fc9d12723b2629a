// Tokens that mark a submission as a test of the dashboard. They are sealed, so that strangers cannot send
// submissions that are never announced.

import { createTextSealer } from '../../../lib/crypto/sealing.ts'

const VALID_MS = 10 * 60_000
const TOKEN_MAX = 200

export interface TestTokens {
  issue(formKey: string, now: number): { token: string; expiresAt: number }
  isValid(token: string | undefined, formKey: string, now: number): boolean
}

/** @param secret `TOWPATH_SECRET` */
export function createTestTokens(secret: string): TestTokens {
  const sealer = createTextSealer(secret, 'towpath form tests 1')
  return {
    issue(formKey, now) {
      const expiresAt = now + VALID_MS
      return { token: sealer.seal(String(expiresAt), formKey), expiresAt }
    },
    isValid(token, formKey, now) {
      if (token === undefined || token.length > TOKEN_MAX) return false
      return Number(sealer.open(token, formKey) ?? 0) > now
    },
  }
}
