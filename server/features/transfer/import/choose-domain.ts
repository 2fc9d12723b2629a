// Chooses the domain of an imported link: the person's choice for the host in the file, else the workspace's own domain of that
// name, else the domain of new links.

import type { Connection } from '../../../storage/database/open-database.ts'
import { type LinkDomain, resolveDomain, toStoredDomain } from '../../links/names/link-domain.ts'
import type { ImportRun } from './import-run.ts'

export interface ChosenDomain extends LinkDomain {
  /** The value for the body of POST /links; undefined for the domain of new links. */
  typed: string | undefined
}

/** Looks each host up once. @returns a function that throws Failure `invalid` if a chosen domain no longer exists */
export function createDomainChooser(
  run: ImportRun,
): (connection: Connection, host: string | null) => Promise<ChosenDomain> {
  const chosen = new Map<string, ChosenDomain>()
  return async (connection, host) => {
    const key = host ?? ''
    const known = chosen.get(key)
    if (known) return known
    const typed = run.options.domainMap[key] ?? (await findOwnDomain(connection, run, host))
    const domain = await resolveDomain({ connection, site: run.needs.site }, run.actor, typed)
    const choice = { ...domain, typed }
    chosen.set(key, choice)
    return choice
  }
}

async function findOwnDomain(
  connection: Connection,
  { needs, actor }: ImportRun,
  host: string | null,
): Promise<string | undefined> {
  if (host === null) return undefined
  const name = toStoredDomain(needs.site, host)
  if (name === null) return undefined
  if (name === '') return needs.site.domain
  const own = await connection
    .selectFrom('domains')
    .select('domain')
    .where('workspace_id', '=', actor.workspaceId)
    .where('domain', '=', name)
    .where('verified_at', 'is not', null)
    .executeTakeFirst()
  return own?.domain
}
