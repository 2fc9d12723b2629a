// Second factors of the signed-in person, the second step of a sign-in, and the confirmation that it is them.

import { queryOptions } from '@tanstack/react-query'
import {
  createPasskey,
  getPasskey,
  type PasskeyAnswer,
  type PasskeyCreation,
  type PasskeyRequest,
} from './passkey.ts'
import { askAuth, postAuth } from './session.ts'

export interface Passkey {
  id: number
  name: string
  createdAt: string
  lastUsedAt: string | null
}

export interface Factors {
  authenticatorApp: boolean
  passkeys: Passkey[]
  /** The number of unused codes. */
  recoveryCodes: number
  /** Whether the person has a password, and whether they sign in at the identity provider. */
  password: boolean
  provider: boolean
}

/** The possible second steps of a sign-in. */
export interface PendingSignIn {
  authenticatorApp: boolean
  passkey: boolean
  recoveryCode: boolean
}

export type Proof =
  | { password: string }
  | { code: string }
  | { recoveryCode: string }
  | { passkey: PasskeyAnswer }

interface NewCodes {
  /** null when the person has recovery codes already. */
  recoveryCodes: string[] | null
}

/** For a person who has not signed in yet. */
const postAnonymously = <T>(path: string, body?: unknown) => postAuth<T>(path, body, { anonymous: true })

export const factorsQuery = queryOptions({
  queryKey: ['second-factor'],
  queryFn: () => askAuth<Factors>('/second-factor'),
})

/** null when no sign-in waits for its second step. */
export const pendingSignInQuery = queryOptions({
  queryKey: ['pending-sign-in'],
  queryFn: () => askAuth<PendingSignIn | null>('/second-factor/pending', { anonymous: true }),
})

export const verifySecondFactor = (proof: Proof) => postAnonymously('/second-factor/verify', proof)
export const confirmIdentity = (proof: Proof) => postAuth('/confirm', proof)

/** Asks for one of the person's passkeys, as a second factor or to confirm that it is them. */
export const askForPasskey = async () => ({
  passkey: await getPasskey(await postAnonymously<PasskeyRequest>('/passkeys/options')),
})
export const signInWithPasskey = async () =>
  postAnonymously('/sign-in/passkey', {
    passkey: await getPasskey(await postAnonymously<PasskeyRequest>('/passkeys/sign-in-options')),
  })

/** @param qrCode an image that shows `uri` */
export const startApp = () => postAuth<{ secret: string; uri: string; qrCode: string }>('/second-factor/app')
export const confirmApp = (code: string) => postAuth<NewCodes>('/second-factor/app/confirm', { code })
export const removeApp = () => postAuth('/second-factor/app/remove')
export const renewRecoveryCodes = () => postAuth<{ recoveryCodes: string[] }>('/second-factor/recovery-codes')

export const addPasskey = async (name: string) => {
  const passkey = await createPasskey(await postAuth<PasskeyCreation>('/passkeys/register-options'))
  return postAuth<NewCodes>('/passkeys/register', { name, passkey })
}
export const renamePasskey = ({ id, name }: { id: number; name: string }) =>
  postAuth('/passkeys/rename', { id, name })
export const removePasskey = (id: number) => postAuth('/passkeys/remove', { id })
