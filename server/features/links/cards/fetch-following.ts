// Fetches an address that a person has typed, and follows its redirects. Each address on the way is checked like a
// destination and goes through `safeRequest`: a redirect leads to no private address and not back to this server.

import {
  type SafeRefusal,
  type SafeRequest,
  type SafeResponse,
  safeRequest,
} from '../../../http/safe-request.ts'
import { invalid } from '../../../lib/failure.ts'
import { quote } from '../../../lib/text.ts'
import { checkUrl, parseUrl } from '../../../lib/web-url.ts'
import type { Site } from '../link.ts'
import type { FetchLimit } from './fetch-limit.ts'

export interface FollowNeeds extends Pick<SafeRequest, 'allow' | 'resolve'> {
  site: Site
  /** For the whole way. */
  timeMaxMs?: number
}

export interface FetchNeeds extends FollowNeeds {
  limit: FetchLimit
}

/** Why there is nothing: a code for programs, a sentence for people. */
export interface FetchProblem {
  code: string
  message: string
}

interface FetchLimits {
  accept: string
  maxBytes: number
}

/** A person waits for it. */
const TIME_MAX_MS = 5_000
const REDIRECTS_MAX = 5

/** @throws Failure `invalid` where the address itself could not be a destination */
export async function fetchFollowing(
  { site, allow, resolve, timeMaxMs = TIME_MAX_MS }: FollowNeeds,
  address: string,
  { accept, maxBytes }: FetchLimits,
): Promise<{ url: string; answer: SafeResponse } | FetchProblem> {
  const rule = { ...site, schemes: [] }
  const first = checkUrl(address, rule)
  if ('wrong' in first) throw invalid({ url: first.wrong })
  const deadline = performance.now() + timeMaxMs
  const headers = { Accept: accept, 'User-Agent': 'Towpath card preview' }
  for (let url = first.href, redirects = 0; redirects <= REDIRECTS_MAX; redirects++) {
    const timeoutMs = Math.max(1, deadline - performance.now())
    const answer = await safeRequest({ url, headers, timeoutMs, maxBytes, allow, resolve })
    if (!answer.ok) return toProblem(answer, timeMaxMs)
    const target = findRedirect(answer)
    if (target === undefined) return isSuccess(answer) ? { url, answer } : statusProblem(answer)
    const next = checkUrl(parseUrl(target, url)?.href ?? target, rule)
    if ('wrong' in next) {
      const message = `It redirects to ${quote(target)}, an address that ${next.wrong}.`
      return { code: 'redirect_refused', message }
    }
    url = next.href
  }
  return { code: 'too_many_redirects', message: `It redirects more than ${REDIRECTS_MAX} times.` }
}

const findRedirect = ({ status, headers }: SafeResponse) =>
  status >= 300 && status < 400 ? (headers.get('location') ?? undefined) : undefined

const isSuccess = ({ status }: SafeResponse) => status >= 200 && status < 300
const statusProblem = ({ status }: SafeResponse) => ({
  code: 'status',
  message: `It answers with status ${status}.`,
})

function toProblem({ reason, message }: SafeRefusal, timeMaxMs: number): FetchProblem {
  if (reason === 'refused-address') return { code: 'private_address', message: `${message}.` }
  if (reason === 'timeout')
    return { code: 'unreachable', message: `It did not answer within ${timeMaxMs / 1000} seconds.` }
  return { code: 'unreachable', message: `${message}.` }
}
