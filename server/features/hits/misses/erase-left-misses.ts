// Erases the counts of unknown slugs on domains that a workspace no longer has: it was deleted, it deleted the domain,
// or it lost the domain.

import { sql } from 'kysely'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import { pruneInSlices } from '../../../storage/database/prune-in-slices.ts'

export async function eraseLeftMisses(db: Database): Promise<void> {
  for (const { domain, holder, until } of await listLeftDomains(db.read)) {
    const left = holder === null ? sql`` : sql`and hour <= ${until} and workspace_id <> ${holder}`
    await pruneInSlices(db, 'misses', sql`domain = ${domain} ${left}`)
  }
}

interface LeftDomain {
  domain: string
  /** Who has the domain now; null for nobody. */
  holder: number | null
  /** Since when the holder has it. All later counts are the holder's. */
  until: number | null
}

/** Steps on the index from domain to domain, so that it reads no counts. */
async function listLeftDomains(connection: Connection): Promise<LeftDomain[]> {
  const { rows } = await sql<LeftDomain>`
    with recursive counted (name) as (
      select min(domain) from misses where domain > ''
      union all
      select (select min(domain) from misses where domain > counted.name) from counted where name is not null
    )
    select counted.name as domain, workspace_id as holder, verified_at as until from counted
    left join domains on domains.domain = counted.name and verified_at is not null
    where counted.name is not null and (domains.id is null or exists (
      select 1 from misses
      where misses.domain = counted.name and hour <= verified_at and misses.workspace_id <> domains.workspace_id
    ))`.execute(connection)
  return rows
}
