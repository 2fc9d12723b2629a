// The token with which the command calls a running server: the secret of the installation proves that the caller is
// its operator. It serves one purpose and expires after a minute, because the request may go through the proxy.

import { createHmac, timingSafeEqual } from 'node:crypto'

/** `echo`: a request as the server sees it. `findings`: the checks that only the running server can make. */
export type TokenPurpose = 'echo' | 'findings'

const VALID_MS = 60_000

const sign = (secret: string, text: string) =>
  createHmac('sha256', secret).update(`towpath doctor 1 ${text}`).digest('base64url')

export function createOperatorToken(secret: string, purpose: TokenPurpose, now: number): string {
  const until = now + VALID_MS
  return `${until}.${sign(secret, `${purpose} ${until}`)}`
}

export function isOperatorToken(secret: string, purpose: TokenPurpose, token: string, now: number): boolean {
  const [until = '', signature = ''] = token.split('.')
  if (!/^\d{1,15}$/.test(until) || Number(until) < now || Number(until) > now + VALID_MS) return false
  const [right, given] = [sign(secret, `${purpose} ${until}`), signature].map((text) => Buffer.from(text))
  return right?.length === given?.length && timingSafeEqual(right as Buffer, given as Buffer)
}

/** Shows the sender of the token that the answer comes from a server with the same secret. */
export const toAnswerProof = (secret: string, token: string) => sign(secret, `answer to ${token}`)
