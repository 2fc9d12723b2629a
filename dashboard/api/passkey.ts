// Requests a passkey from the browser (WebAuthn), and converts its binary values to base64url for the server.

/** WebAuthn's JSON forms, as the server sends them: with base64url instead of bytes. */
interface Descriptor {
  id: string
  type: 'public-key'
  transports?: AuthenticatorTransport[]
}
export interface PasskeyCreation
  extends Omit<PublicKeyCredentialCreationOptions, 'challenge' | 'user' | 'excludeCredentials'> {
  challenge: string
  user: { id: string; name: string; displayName: string }
  excludeCredentials?: Descriptor[]
}
export interface PasskeyRequest
  extends Omit<PublicKeyCredentialRequestOptions, 'challenge' | 'allowCredentials'> {
  challenge: string
  allowCredentials?: Descriptor[]
}

/** Browsers offer passkeys on https pages and on localhost only. */
export const canUsePasskeys = () => typeof PublicKeyCredential === 'function'

/** @throws Error with a sentence when the person cancels, and when the device refuses */
export async function createPasskey({ challenge, user, excludeCredentials, ...options }: PasskeyCreation) {
  const created = await ask(() =>
    navigator.credentials.create({
      publicKey: {
        ...options,
        challenge: toBytes(challenge),
        user: { ...user, id: toBytes(user.id) },
        excludeCredentials: excludeCredentials?.map(toDescriptor),
      },
    }),
  )
  const response = created.response as AuthenticatorAttestationResponse
  return {
    ...toCredential(created),
    response: {
      clientDataJSON: toText(response.clientDataJSON),
      attestationObject: toText(response.attestationObject),
      transports: response.getTransports?.() ?? [],
    },
  }
}

/** @throws Error with a sentence when the person cancels, and when there is no passkey */
export async function getPasskey({ challenge, allowCredentials, ...options }: PasskeyRequest) {
  const found = await ask(() =>
    navigator.credentials.get({
      publicKey: {
        ...options,
        challenge: toBytes(challenge),
        allowCredentials: allowCredentials?.map(toDescriptor),
      },
    }),
  )
  const response = found.response as AuthenticatorAssertionResponse
  return {
    ...toCredential(found),
    response: {
      clientDataJSON: toText(response.clientDataJSON),
      authenticatorData: toText(response.authenticatorData),
      signature: toText(response.signature),
      ...(response.userHandle && { userHandle: toText(response.userHandle) }),
    },
  }
}

export type PasskeyAnswer = Awaited<ReturnType<typeof getPasskey>>

async function ask(open: () => Promise<Credential | null>): Promise<PublicKeyCredential> {
  try {
    const credential = await open()
    if (credential) return credential as PublicKeyCredential
  } catch (error) {
    const { name } = error as { name?: string }
    if (name === 'InvalidStateError') throw new Error('This device has a passkey for your account already.')
    if (name !== 'NotAllowedError' && name !== 'AbortError') throw error
  }
  throw new Error('No passkey was used. Try again, or use another way.')
}

const toCredential = ({ id, rawId }: PublicKeyCredential) => ({
  id,
  rawId: toText(rawId),
  type: 'public-key' as const,
  clientExtensionResults: {},
})

const toDescriptor = ({ id, type, transports }: Descriptor): PublicKeyCredentialDescriptor => ({
  id: toBytes(id),
  type,
  transports,
})

const toBytes = (base64url: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(base64url.replaceAll('-', '+').replaceAll('_', '/')), (letter) => letter.charCodeAt(0))

const toText = (bytes: ArrayBuffer): string =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
