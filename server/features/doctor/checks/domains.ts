// Check: the domains of workspaces lead here, and have certificates. The report is the operator's: it names domains, and
// never a workspace.

import { isIP } from 'node:net'
import { isAllowedAddress } from '../../../http/address-policy.ts'
import { withTimeout } from '../../../lib/concurrency/with-timeout.ts'
import { type CheckResult, ok, problem, skipped, warning } from '../finding.ts'
import { formatCount } from '../format.ts'
import { type DoctorNeeds, type RowReader, withRows } from '../needs.ts'
import { connectTo, countDays, judgeConnection } from './tls.ts'

/** All of them are looked at side by side: a check has nine seconds. */
const DOMAINS_MAX = 50
const LOOKUP_MS = 3_000
/** DNS can have thousands. */
const ADDRESSES_SHOWN = 3

const CORRECT_DNS = 'Let its owners set the records that the page Domains of their workspace shows.'
const BEHIND_PROXY = `This is correct behind a proxy such as Cloudflare. If not: ${CORRECT_DNS}`

export const checkDomains = (needs: DoctorNeeds): Promise<CheckResult[]> =>
  withRows(needs, async ({ read }) => {
    const domains = await listDomains(read)
    if (domains.length === 0) return [ok('No workspace has a verified domain.')]
    const { host, hostname } = new URL(needs.settings.origin)
    const own = await findAddresses(hostname, needs)
    if (own.length === 0)
      return [...domains.flatMap(judgeProof), skipped(`DNS has no address of ${host} for this machine.`)]
    const judged = await Promise.all(
      domains.slice(0, DOMAINS_MAX).map(async (row): Promise<JudgedDomain> => {
        const way = await judgeWay(`https://${row.domain}`, own, needs)
        return { ...way, complaints: [...judgeProof(row), ...way.complaints] }
      }),
    )
    const complaints = judged.flatMap((each) => each.complaints)
    return [...complaints, ...praise(judged, needs.now()), ...admitLimit(domains.length)]
  })

interface VerifiedDomain {
  domain: string
  failing_since: number | null
  problem: string | null
}

/** Lists failing domains, then the newest: one more than are checked. */
function listDomains(read: RowReader['read']): Promise<VerifiedDomain[]> {
  return read
    .selectFrom('domains')
    .select(['domain', 'failing_since', 'problem'])
    .where('verified_at', 'is not', null)
    .orderBy('failing_since', (order) => order.asc().nullsLast())
    .orderBy('verified_at', 'desc')
    .limit(DOMAINS_MAX + 1)
    .execute()
}

interface JudgedDomain {
  complaints: CheckResult[]
  /** When its certificate ends; absent where none was seen. */
  validUntil?: number
}

/** One line for all that are well. */
function praise(judged: JudgedDomain[], now: number): CheckResult[] {
  const well = judged.filter(({ complaints }) => complaints.length === 0)
  if (well.length === 0) return []
  const ends = well.flatMap(({ validUntil }) => validUntil ?? [])
  const until =
    ends.length === 0
      ? ''
      : `, and their certificates are valid for ${countDays(Math.min(...ends) - now)} or more`
  return [ok(`No problems with ${formatCount(well.length, 'domain')}${until}.`)]
}

const admitLimit = (count: number): CheckResult[] =>
  count > DOMAINS_MAX
    ? [skipped(`Only ${DOMAINS_MAX} domains were checked: those that fail, and then the newest.`)]
    : []

/** Judges a domain by its last DNS check. */
function judgeProof({ domain, failing_since: since, problem: reason }: VerifiedDomain): CheckResult[] {
  if (since === null) return []
  return [
    warning(
      `${domain} fails its check since ${new Date(since).toISOString()}. ${reason ?? ''}`.trim(),
      CORRECT_DNS,
    ),
  ]
}

/**
 * Connects as a visitor does: the look-up, and the connection.
 * @param url the origin of the domain
 * @param own the addresses of the default domain
 */
export async function judgeWay(url: string, own: string[], needs: DoctorNeeds): Promise<JudgedDomain> {
  const { hostname: domain } = new URL(url)
  const { origin, webhookAllow } = needs.settings
  const addresses = await findAddresses(domain, needs)
  if (addresses.length === 0) return complain(problem(`No address of ${domain} can be found.`, CORRECT_DNS))
  const here = addresses.filter((address) => own.includes(address))
  const others = addresses.filter((address) => !own.includes(address))
  const isHere = here.length > 0
  const shown = others.slice(0, ADDRESSES_SHOWN).join(', ')
  const elsewhere = `${domain} leads to ${shown}${isHere ? ' too' : ''}, no address of ${new URL(origin).host}`
  // The DNS of a workspace must not lead requests into the operator's network.
  if (!isHere && !others.every((address) => isAllowedAddress(address, webhookAllow)))
    return complain(warning(`${elsewhere}. It is not public.`, CORRECT_DNS))
  const strays = isHere && others.length > 0 ? [warning(`${elsewhere}.`, CORRECT_DNS)] : []
  // The TLS check reports an installation without TLS.
  if (origin.startsWith('http:')) return complain(...strays)
  const connection = await connectTo(url, isHere ? here : others)
  if ('unreachable' in connection) {
    const { unreachable: reason } = connection
    if (isHere)
      return complain(...strays, skipped(`${domain} could not be reached from this machine (${reason}).`))
    return complain(warning(`${elsewhere}. Nothing answers there (${reason}).`, CORRECT_DNS))
  }
  const complaints = [...strays, ...judgeConnection(domain, connection, needs.now())]
  if (complaints.length === 0 && !isHere)
    return complain(skipped(`${elsewhere}. It is unknown whether its links arrive here.`, BEHIND_PROXY))
  return { complaints, validUntil: connection.certificate?.validUntil }
}

const complain = (...complaints: CheckResult[]): JudgedDomain => ({ complaints })

/** @returns none when there was no answer in time, too */
async function findAddresses(name: string, needs: DoctorNeeds): Promise<string[]> {
  const literal = name.replace(/^\[(.*)\]$/, '$1')
  return isIP(literal) > 0 ? [literal] : withTimeout(needs.findAddresses(name), LOOKUP_MS, () => [])
}
