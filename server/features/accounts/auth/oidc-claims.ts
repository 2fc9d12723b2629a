// Checks the claims of an ID token that Better Auth leaves to its callers. Signature, audience, expiry and nonce have
// been checked before (https://openid.net/specs/openid-connect-core-1_0.html#IDTokenValidation).

import { trimEnd } from '../../../lib/clean-text.ts'
import { isEmail } from '../../../lib/email.ts'
import { log } from '../../../lib/log.ts'

interface Claims {
  iss?: unknown
  sub?: unknown
  aud?: unknown
  azp?: unknown
  iat?: unknown
}

/** A sign-in takes seconds from the token to this check. */
const AGE_MAX_S = 10 * 60
/** The maximum difference between the clocks of the provider and of this server. */
const SKEW_S = 60

/** The operator's settings: the provider, and this server as its client. */
export interface OidcClient {
  issuer: string
  clientId: string
}

const withoutSlash = (url: string) => trimEnd(url, '/')

/** @param now in milliseconds. @returns the problem of the claims; undefined for valid ones */
export function findClaimProblem(
  { iss, aud, azp, iat }: Claims,
  { issuer, clientId }: OidcClient,
  now: number,
): string | undefined {
  // The discovery document names the issuer of the tokens. It must be the provider that the operator has named
  // (https://openid.net/specs/openid-connect-discovery-1_0.html#ProviderConfigurationValidation).
  if (typeof iss !== 'string' || withoutSlash(iss) !== withoutSlash(issuer)) return 'iss'
  // A token for several clients names the one that asked for it.
  if (azp === undefined ? Array.isArray(aud) && aud.length > 1 : azp !== clientId) return 'azp'
  if (typeof iat !== 'number' || !Number.isFinite(iat)) return 'iat'
  const age = now / 1000 - iat
  return age < -SKEW_S || age > AGE_MAX_S + SKEW_S ? 'iat' : undefined
}

interface ProviderAnswer {
  tokens: { idToken?: string }
}

/** The part of the settings of Better Auth's plug-in that runs at each sign-in. */
export const createClaimChecks = (client: OidcClient, now: () => number) => ({
  /** @returns the provider's id of the person @throws when the claims are wrong: the sign-in then fails */
  accountSubject({ tokens: { idToken } }: ProviderAnswer): string {
    // The provider's answer without an ID token would prove nothing about who asked for it.
    const claims = idToken === undefined ? undefined : readClaims(idToken)
    const problem = claims ? findClaimProblem(claims, client, now()) : 'missing'
    if (claims && problem === undefined && typeof claims.sub === 'string') return claims.sub
    log.warn('id_token_refused', { claim: problem ?? 'sub' })
    throw new Error(`the ID token was refused: ${problem ?? 'sub'}`)
  },
  /** An address that our own forms would refuse counts as none. */
  mapProfileToUser: ({ email }: { email?: unknown }) =>
    typeof email === 'string' && isEmail(email) ? {} : { email: undefined },
})

function readClaims(idToken: string): Claims | undefined {
  try {
    return JSON.parse(Buffer.from(idToken.split('.')[1] ?? '', 'base64url').toString())
  } catch {
    return undefined
  }
}
