// The commands `domain add`, `domain list`, `domain verify` and `domain remove`: domains of a workspace.

import { createDomain } from '../../features/links/domains/create-domain.ts'
import { deleteDomain } from '../../features/links/domains/delete-domain.ts'
import { createDnsClients } from '../../features/links/domains/dns-client.ts'
import { listDomains } from '../../features/links/domains/list-domains.ts'
import { getOperatorActor } from '../../features/links/domains/operator-actor.ts'
import type { DomainResource } from '../../features/links/domains/schema.ts'
import { createServerAddresses } from '../../features/links/domains/server-addresses.ts'
import { type VerificationNeeds, verifyDomain } from '../../features/links/domains/verify-domain.ts'
import { createSite } from '../../start/site.ts'
import { parseIdArgument } from '../arguments.ts'
import { type Command, CommandError, type CommandNeeds } from '../command.ts'

const ID = 'The id of a domain'
const PAGE = 100

export const DOMAIN_COMMANDS: Command[] = [
  {
    name: 'domain add',
    form: '<name> --workspace <id>',
    help: 'adds a domain and prints the DNS records that it needs',
    words: 1,
    options: ['workspace'],
    async run(needs, { words, options }) {
      const workspaceId = parseIdArgument(options.workspace, '--workspace')
      if (words[0] === undefined) throw new CommandError('Name the domain, such as go.example.com.')
      const actor = await getOperatorActor(needs, { workspaceId })
      return print(await createDomain(await createDomainNeeds(needs), actor, { domain: words[0] }))
    },
  },
  {
    name: 'domain list',
    form: '--workspace <id>',
    help: 'lists the domains of a workspace',
    words: 0,
    options: ['workspace'],
    async run(needs, { options }) {
      const workspaceId = parseIdArgument(options.workspace, '--workspace')
      const actor = await getOperatorActor(needs, { workspaceId })
      const domainNeeds = await createDomainNeeds(needs)
      const lines: string[] = []
      for (let cursor: string | undefined; ; ) {
        const { data, nextCursor } = await listDomains(domainNeeds, actor, { limit: PAGE, cursor })
        lines.push(...data.map(print))
        if (nextCursor === null) return lines.join('\n')
        cursor = nextCursor
      }
    },
  },
  {
    name: 'domain verify',
    form: '<id>',
    help: 'checks the DNS of a domain now; its links work once its TXT record is found',
    words: 1,
    options: [],
    async run(needs, { words }) {
      const domainId = parseIdArgument(words[0], ID)
      const actor = await getOperatorActor(needs, { domainId })
      return print(await verifyDomain(await createDomainNeeds(needs), actor, domainId))
    },
  },
  {
    name: 'domain remove',
    form: '<id> [--move-to <id or default>]',
    help: 'removes a domain without links, or moves its links to another domain first',
    words: 1,
    options: ['move-to'],
    async run(needs, { words, options }) {
      const domainId = parseIdArgument(words[0], ID)
      const moveTo = options['move-to']
      if (moveTo !== undefined && moveTo !== 'default') parseIdArgument(moveTo, '--move-to')
      const actor = await getOperatorActor(needs, { domainId })
      const { domain } = await deleteDomain(await createDomainNeeds(needs), actor, domainId, moveTo)
      return JSON.stringify({ id: domainId, domain, removed: true })
    },
  },
]

/** The running server learns of each change through the database. It emails nobody about the operator's changes. */
async function createDomainNeeds({ db, now, config }: CommandNeeds): Promise<VerificationNeeds> {
  const site = createSite(config)
  const openDnsClient = createDnsClients(config.dnsServers)
  const serverAddresses = createServerAddresses(site, openDnsClient)
  const dns = openDnsClient()
  await serverAddresses.ask(dns).finally(dns.close)
  return {
    db,
    site,
    now,
    openDnsClient,
    serverAddresses,
    domains: { reload: async () => {} },
    mailOwners: async () => {},
  }
}

/** One line, with the operator's next step. */
const print = ({ id, domain, verified, primary, problem, links, dns }: DomainResource) =>
  JSON.stringify({ id, domain, verified, primary, problem, links, dns })
