// The challenges that passkeys sign. A challenge is sealed instead of stored, so that a stranger who asks for many
// challenges fills no table. Each challenge is good for one passkey ceremony within five minutes.

import { createTextSealer } from '../../../lib/crypto/sealing.ts'
import { sha256Hex } from '../../../lib/crypto/sha256.ts'
import type { RateLimiter } from '../access/rate-limiter.ts'

const VALID_MS = 5 * 60 * 1000

/** `register` a new passkey, or `use` one. */
export type Ceremony = 'register' | 'use'

interface ChallengeNeeds {
  secret: string
  now: () => number
  limiter: RateLimiter
}

const toSealer = ({ secret }: ChallengeNeeds) => createTextSealer(secret, 'towpath passkey challenges 1')

/** @param userId 0 when nobody is named: the passkey says whose it is */
export const createChallenge = (needs: ChallengeNeeds, ceremony: Ceremony, userId: number): string =>
  toSealer(needs).seal(`${userId} ${needs.now() + VALID_MS} ${crypto.randomUUID()}`, ceremony)

/**
 * @param signed the challenge as the browser returns it: base64url of what `createChallenge` made
 * @returns whether it was made for this ceremony and person, is recent, and was never used
 */
export async function spendChallenge(
  needs: ChallengeNeeds,
  ceremony: Ceremony,
  userId: number,
  signed: string,
): Promise<boolean> {
  const sealed = Buffer.from(signed, 'base64url').toString('utf8')
  const [owner, expiresAt] = (toSealer(needs).open(sealed, ceremony) ?? '').split(' ')
  if (owner !== String(userId) || Number(expiresAt) <= needs.now()) return false
  // The limiter counts in one step, so that two requests with one challenge cannot both pass.
  return (await needs.limiter.take(`passkey challenge ${sha256Hex(signed)}`, 1, 2 * VALID_MS)).allowed
}
