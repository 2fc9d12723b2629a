// Checks one destination: HEAD, then GET where HEAD is refused, over at most five redirects.

import type { SafeRefusal, SafeResponse } from '../../http/safe-request.ts'
import { quote } from '../../lib/text.ts'
import { checkUrl, parseUrl } from '../../lib/web-url.ts'
import type { Site } from '../links/link.ts'
import { findSalePage } from './parked-domains.ts'
import type { PoliteClient } from './polite-client.ts'

export interface DestinationCheck {
  /** `failed`: a visitor cannot open it. */
  kind: 'ok' | 'failed' | 'parked' | 'not_allowed'
  status: number | null
  message: string | null
}

export interface CheckNeeds {
  site: Pick<Site, 'isShortHost' | 'isBlocked'>
  client: PoliteClient
}

interface CheckOptions {
  /**
   * Ask although robots.txt answers with an error. RFC 9309 §2.3.1.4 takes that for a ban at first, and for no rules
   * when it lasts.
   */
  ignoresRobotsErrors: boolean
}

const REDIRECTS_MAX = 5
/** With the waits for the host. */
const TIME_MAX_MS = 20_000

const createResult = (
  kind: DestinationCheck['kind'],
  message: string | null,
  status: number | null = null,
): DestinationCheck => ({ kind, status, message })

export async function checkDestination(
  { site, client }: CheckNeeds,
  url: string,
  { ignoresRobotsErrors }: CheckOptions,
): Promise<DestinationCheck> {
  const first = checkUrl(url, { ...site, schemes: [] })
  if ('wrong' in first) return createResult('not_allowed', `The address ${first.wrong}.`)
  const startedAt = client.readClock()
  let at = new URL(first.href)
  for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects++) {
    const service = await client.findParking(at.hostname)
    if (service !== undefined) {
      const message = `The name servers of ${at.hostname} are those of ${service}, where domains are parked or for sale.`
      return createResult('parked', message)
    }
    const refused = await askRobots(client, at, ignoresRobotsErrors)
    if (refused) return refused
    const answer = await ask(client, at)
    if (!answer.ok) return toFailure(answer, at)
    const target = findTarget(answer)
    if (target === undefined) {
      const sign = await client.findParkedPage(at, answer)
      return sign === undefined ? judgeStatus(answer.status) : createResult('parked', sign, answer.status)
    }
    const next = parseUrl(target, at.href)
    const sale = next && findSalePage(at, next)
    if (sale)
      return createResult('parked', `It redirects to ${sale}, where its domain is for sale.`, answer.status)
    const checked = checkUrl(next?.href ?? target, { ...site, schemes: [] })
    if ('wrong' in checked) {
      // An app, or a short link of this server: visitors may get further than this check goes.
      return createResult('ok', `It redirects to ${quote(target)}, which is not checked.`, answer.status)
    }
    if (client.readClock() - startedAt > TIME_MAX_MS)
      return createResult(
        'failed',
        `Its redirects take more than ${TIME_MAX_MS / 1000} seconds.`,
        answer.status,
      )
    at = new URL(checked.href)
  }
  return createResult('failed', `It redirects more than ${REDIRECTS_MAX} times.`)
}

async function askRobots(
  client: PoliteClient,
  url: URL,
  ignoresErrors: boolean,
): Promise<DestinationCheck | undefined> {
  const answer = await client.readRobots(url)
  if ('failed' in answer) return toFailure(answer.failed, url)
  if ('unreachable' in answer) {
    if (ignoresErrors) return undefined
    const message = `${url.host}/robots.txt answers with status ${answer.unreachable}, so the page was not requested.`
    return createResult('failed', message, answer.unreachable)
  }
  if (answer.rules.allows(url.pathname + url.search)) return undefined
  return createResult('not_allowed', `The robots.txt of ${url.host} does not allow this check.`)
}

/** Servers refuse HEAD with many statuses, so every failure is asked for again. */
async function ask(client: PoliteClient, url: URL): Promise<SafeResponse | SafeRefusal> {
  const head = await client.request('HEAD', url)
  const isRefused = head.ok ? head.status >= 400 && head.status !== 429 : head.reason === 'broken-answer'
  return isRefused ? client.request('GET', url) : head
}

const findTarget = ({ status, headers }: SafeResponse): string | undefined =>
  status >= 300 && status < 400 ? (headers.get('location') ?? undefined) : undefined

function judgeStatus(status: number): DestinationCheck {
  if (status === 404 || status === 410 || status >= 500)
    return createResult('failed', `It answers with status ${status}.`, status)
  if (status < 400) return createResult('ok', null, status)
  return createResult(
    'ok',
    `It answers this check with status ${status}. Visitors may get another answer.`,
    status,
  )
}

function toFailure({ reason, message }: SafeRefusal, { host }: URL): DestinationCheck {
  if (reason === 'refused-address')
    return createResult('not_allowed', `${host} has a private address, which is not checked.`)
  return createResult('failed', `${message}.`)
}
