// Queries DNS servers: the operator's, or those of the system. All queries of a client end together after a few
// seconds. The resolver of the runtime (c-ares) checks ids, follows CNAMEs, and repeats queries over TCP.

import { Resolver } from 'node:dns/promises'

/** All questions about one domain together: people wait for the answer. */
const DEADLINE_MS = 4_000
/** Time limit of one attempt at one server. */
const TRY_MS = 1_500

/** The records in DNS, possibly none; or the reason for no answer. */
export type DnsAnswer = { values: string[] } | { silence: string }

export interface DnsClient {
  listTexts(name: string): Promise<DnsAnswer>
  listAliases(name: string): Promise<DnsAnswer>
  /** IPv4 and IPv6. */
  listAddresses(name: string): Promise<DnsAnswer>
  listNameServers(name: string): Promise<DnsAnswer>
  /** Ends questions that are still open. */
  close(): void
}

export type OpenDnsClient = () => DnsClient

/** @param servers `host:port`; the system's servers when absent */
export function createDnsClients(servers: string[] | undefined, deadlineMs = DEADLINE_MS): OpenDnsClient {
  return function openDnsClient() {
    const resolver = new Resolver({ timeout: TRY_MS, tries: 2 })
    if (servers) resolver.setServers(servers)
    const timer = setTimeout(() => resolver.cancel(), deadlineMs)
    return {
      // A record may have several texts, and the runtime gives each as one.
      listTexts: (name) => settle(resolver.resolveTxt(name).then((records) => records.flat())),
      listAliases: (name) => settle(resolver.resolveCname(name)),
      async listAddresses(name) {
        const [v4, v6] = await Promise.all([settle(resolver.resolve4(name)), settle(resolver.resolve6(name))])
        if ('values' in v4 && 'values' in v6) return { values: [...v4.values, ...v6.values] }
        // One half of an answer says where visitors go, unless it is empty.
        return [v4, v6].find((answer) => 'values' in answer && answer.values.length > 0) ?? toSilence(v4, v6)
      },
      listNameServers: (name) => settle(resolver.resolveNs(name)),
      close() {
        clearTimeout(timer)
        resolver.cancel()
      },
    }
  }
}

const toSilence = (...answers: DnsAnswer[]) => answers.find((answer) => 'silence' in answer) ?? { values: [] }

/** The names of `node:dns` for "there is no such name" and "the name has no such record". */
const NOTHING = ['ENOTFOUND', 'ENODATA']

const SILENCES: Record<string, string> = {
  ETIMEOUT: 'DNS has not answered in time',
  ECANCELLED: 'DNS has not answered in time',
  ESERVFAIL: 'the DNS servers of the domain do not work (SERVFAIL)',
  EREFUSED: 'DNS refuses to answer (REFUSED)',
  ECONNREFUSED: 'no DNS server can be reached',
}

async function settle(question: Promise<string[]>): Promise<DnsAnswer> {
  try {
    return { values: await question }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'no code'
    if (NOTHING.includes(code)) return { values: [] }
    return { silence: SILENCES[code] ?? `DNS has given an answer that cannot be read (${code})` }
  }
}
