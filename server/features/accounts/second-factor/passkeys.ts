// Passkeys (WebAuthn): a key pair on a person's device. The private key never leaves the device. A passkey is a
// second factor, or a sign-in without a password. The library that checks signatures is loaded at first use.

import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import { createTextSealer } from '../../../lib/crypto/sealing.ts'
import { sha256Hex } from '../../../lib/crypto/sha256.ts'
import { Failure, invalid, notFound } from '../../../lib/failure.ts'
import { toIso } from '../../../lib/iso-time.ts'
import { describeError, log } from '../../../lib/log.ts'
import { isUniqueViolation } from '../../../storage/database/errors.ts'
import type { Connection } from '../../../storage/database/open-database.ts'
import type { RateLimiter } from '../access/rate-limiter.ts'
import type { FactorNeeds } from './authenticator-app.ts'

const PASSKEYS_MAX = 20

export interface PasskeyNeeds extends FactorNeeds {
  limiter: RateLimiter
}

const loadLibrary = () => import('@simplewebauthn/server')

/** The relying party is the host of `TOWPATH_URL`: passkeys of another host do not work here. */
const toRelyingParty = ({ origin }: FactorNeeds) => new URL(origin).hostname

const refused = () => invalid({ passkey: 'could not be checked: try again, or use another way' })

/** @throws Failure `conflict` when the person has too many */
export async function createRegistrationOptions(
  needs: PasskeyNeeds,
  user: { userId: number; email: string; name: string },
) {
  const passkeys = await listOwnPasskeys(needs.db.read, user.userId)
  if (passkeys.length >= PASSKEYS_MAX) throw new Failure('conflict', 'You have 20 passkeys: remove one first')
  const { generateRegistrationOptions } = await loadLibrary()
  return generateRegistrationOptions({
    rpName: 'Towpath',
    rpID: toRelyingParty(needs),
    userName: user.email,
    userDisplayName: user.name,
    challenge: createChallenge(needs, 'register', user.userId),
    excludeCredentials: passkeys.map(toDescriptor),
    authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
  })
}

const CHALLENGE_VALID_MS = 5 * 60 * 1000

/** `register` a new passkey, or `use` one. */
type Ceremony = 'register' | 'use'

interface ChallengeNeeds {
  secret: string
  now: () => number
  limiter: RateLimiter
}

const toSealer = ({ secret }: ChallengeNeeds) => createTextSealer(secret, 'towpath passkey challenges 1')

/**
 * A challenge for a passkey to sign, valid for one ceremony within five minutes. It is sealed instead of stored, so
 * that a stranger's requests fill no table.
 * @param userId 0 for a sign-in where the passkey names the person
 */
const createChallenge = (needs: ChallengeNeeds, ceremony: Ceremony, userId: number): string =>
  toSealer(needs).seal(`${userId} ${needs.now() + CHALLENGE_VALID_MS} ${crypto.randomUUID()}`, ceremony)

/**
 * @param signed the challenge as the browser returns it: base64url of what `createChallenge` made
 * @returns whether it was made for this ceremony and person, is recent, and was never used
 */
async function spendChallenge(
  needs: ChallengeNeeds,
  ceremony: Ceremony,
  userId: number,
  signed: string,
): Promise<boolean> {
  const sealed = Buffer.from(signed, 'base64url').toString('utf8')
  const [owner, expiresAt] = (toSealer(needs).open(sealed, ceremony) ?? '').split(' ')
  if (owner !== String(userId) || Number(expiresAt) <= needs.now()) return false
  // The limiter counts in one step, so that two requests with one challenge cannot both pass.
  return (await needs.limiter.take(`passkey challenge ${sha256Hex(signed)}`, 1, 2 * CHALLENGE_VALID_MS))
    .allowed
}

/** @throws Failure `invalid`, `conflict` */
export async function addPasskey(
  needs: PasskeyNeeds,
  userId: number,
  { name, response }: { name: string; response: RegistrationResponseJSON },
): Promise<void> {
  const { verifyRegistrationResponse } = await loadLibrary()
  const { registrationInfo } = await ask(() =>
    verifyRegistrationResponse({
      response,
      expectedChallenge: (signed) => spendChallenge(needs, 'register', userId, signed),
      expectedOrigin: needs.origin,
      expectedRPID: toRelyingParty(needs),
      requireUserVerification: false,
    }),
  )
  if (!registrationInfo) throw refused()
  const { id, publicKey, counter, transports } = registrationInfo.credential
  const row = {
    user_id: userId,
    name,
    credential_id: id,
    public_key: Buffer.from(publicKey).toString('base64url'),
    sign_count: counter,
    transports: JSON.stringify(transports ?? []),
    created_at: needs.now(),
    last_used_at: null,
  }
  try {
    await needs.db.write((connection) => connection.insertInto('passkeys').values(row).execute())
  } catch (error) {
    if (!isUniqueViolation(error)) throw error
    throw new Failure('conflict', 'This passkey is registered already', { cause: error })
  }
}

/**
 * @param userId the owner of the passkeys; 0 for a sign-in without a password, where the device must check the person
 */
export async function createSignInOptions(needs: PasskeyNeeds, userId: number) {
  const { generateAuthenticationOptions } = await loadLibrary()
  const passkeys = userId === 0 ? [] : await listOwnPasskeys(needs.db.read, userId)
  return generateAuthenticationOptions({
    rpID: toRelyingParty(needs),
    challenge: createChallenge(needs, 'use', userId),
    allowCredentials: passkeys.map(toDescriptor),
    userVerification: userId === 0 ? 'required' : 'preferred',
  })
}

/** @param userId as in `createSignInOptions` @returns the owner of the passkey. @throws Failure `invalid` */
export async function usePasskey(
  needs: PasskeyNeeds,
  userId: number,
  response: AuthenticationResponseJSON,
): Promise<number> {
  const passkey = await findPasskey(needs.db.read, response.id)
  if (!passkey || (userId !== 0 && passkey.user_id !== userId)) throw refused()
  const { verifyAuthenticationResponse } = await loadLibrary()
  const { verified, authenticationInfo } = await ask(() =>
    verifyAuthenticationResponse({
      response,
      expectedChallenge: (signed) => spendChallenge(needs, 'use', userId, signed),
      expectedOrigin: needs.origin,
      expectedRPID: toRelyingParty(needs),
      // The library refuses a counter that did not grow: the key was copied (WebAuthn section 6.1.1).
      credential: {
        id: passkey.credential_id,
        publicKey: new Uint8Array(Buffer.from(passkey.public_key, 'base64url')),
        counter: passkey.sign_count,
      },
      // Without a password, the device has to check the person: by a fingerprint or a PIN.
      requireUserVerification: userId === 0,
    }),
  )
  if (!verified) throw refused()
  await needs.db.write((connection) =>
    connection
      .updateTable('passkeys')
      .set({ sign_count: authenticationInfo.newCounter, last_used_at: needs.now() })
      .where('id', '=', passkey.id)
      .execute(),
  )
  return passkey.user_id
}

/** The library throws for everything that is wrong in a response. */
async function ask<T>(verify: () => Promise<T>): Promise<T> {
  try {
    return await verify()
  } catch (error) {
    log.info('passkey_refused', describeError(error))
    throw refused()
  }
}

const findPasskey = (connection: Connection, credentialId: string) =>
  connection.selectFrom('passkeys').selectAll().where('credential_id', '=', credentialId).executeTakeFirst()

const listOwnPasskeys = (connection: Connection, userId: number) =>
  connection
    .selectFrom('passkeys')
    .select(['id', 'name', 'credential_id', 'transports', 'created_at', 'last_used_at'])
    .where('user_id', '=', userId)
    .orderBy('id')
    .execute()

const toDescriptor = (row: { credential_id: string; transports: string }) => ({
  id: row.credential_id,
  transports: JSON.parse(row.transports) as string[],
})

export async function describePasskeys(connection: Connection, userId: number) {
  const rows = await listOwnPasskeys(connection, userId)
  return rows.map(({ id, name, created_at, last_used_at }) => ({
    id,
    name,
    createdAt: toIso(created_at),
    lastUsedAt: last_used_at === null ? null : toIso(last_used_at),
  }))
}

/** @throws Failure `not_found` */
export async function renamePasskey(needs: FactorNeeds, userId: number, id: number, name: string) {
  const renamed = await needs.db.write((connection) =>
    connection
      .updateTable('passkeys')
      .set({ name })
      .where('id', '=', id)
      .where('user_id', '=', userId)
      .returning('id')
      .executeTakeFirst(),
  )
  if (!renamed) throw notFound('Passkey')
}
