// Reads whether a request may make the first account: by the setup token, or because it comes from this machine. A
// sign-in at the identity provider takes two requests, so the browser keeps the token in a cookie between them.

import { isDirectRequest } from '../../../http/direct-request.ts'
import { limitGuesses, tokenLimits } from './auth-limits.ts'
import { type AuthContext, isFailureWith, type SignInNeeds, toClientLimitKey } from './auth-request.ts'
import { isSetupToken, setupRequired } from './first-account.ts'

/** @throws Failure `forbidden` for a wrong token */
export async function mayMakeFirstAccount(
  needs: SignInNeeds,
  c: AuthContext,
  token: string | undefined,
): Promise<boolean> {
  if (token === undefined) return isDirectRequest(c.env.peer, c.req.raw.headers, needs.origin)
  const check = async () => {
    if (!isSetupToken(needs.secret, token)) throw setupRequired()
  }
  await limitGuesses(
    needs.limiter,
    tokenLimits(toClientLimitKey(needs, c)),
    check,
    isFailureWith('forbidden'),
  )
  return true
}

const COOKIE = 'towpath_setup'
const COOKIE_SECONDS = 600

export function keepSetupToken({ origin }: SignInNeeds, c: AuthContext, token: string) {
  const secure = origin.startsWith('https:') ? '; Secure' : ''
  const value = `${COOKIE}=${encodeURIComponent(token)}; Max-Age=${COOKIE_SECONDS}; Path=/api/auth/callback`
  // Lax, because the provider's page leads the browser back here.
  c.header('Set-Cookie', `${value}; HttpOnly; SameSite=Lax${secure}`, { append: true })
}

export const readSetupToken = (c: AuthContext): string | undefined =>
  new RegExp(`(?:^|;\\s*)${COOKIE}=([\\w-]{1,100})(?:;|$)`).exec(c.req.header('cookie') ?? '')?.[1]
