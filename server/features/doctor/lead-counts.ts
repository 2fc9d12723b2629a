// Compares the counters of leads with the submissions, newest first and for a limited time. A partial count is a lower
// bound of each counter.

import { sql } from 'kysely'
import { takeTurn } from '../../lib/concurrency/take-turn.ts'
import type { Connection } from '../../storage/database/open-database.ts'

export interface LeadComparison {
  /** Links with a counter below their submissions. */
  differences: number
  /** Leads in the submissions that were read. */
  leads: number
}

const SUBMISSIONS_AT_ONCE = 1000
const READ_MS = 2_000

/** Submissions are read before counters, which only grow. */
export async function findLackingLeads(read: Connection): Promise<LeadComparison> {
  const leads = await countLeads(read)
  let differences = 0
  const linkIds = [...leads.keys()]
  for (let from = 0; from < linkIds.length; from += SUBMISSIONS_AT_ONCE) {
    await takeTurn()
    const links = await read
      .selectFrom('links')
      .select(['id', 'leads', 'lead_limit'])
      .where('id', 'in', linkIds.slice(from, from + SUBMISSIONS_AT_ONCE))
      .execute()
    differences += links.filter(
      (link) => link.leads < Math.min(leads.get(link.id) ?? 0, link.lead_limit ?? Infinity),
    ).length
  }
  return { differences, leads: [...leads.values()].reduce((sum, count) => sum + count, 0) }
}

/** The link of the last touch has the lead, and a duplicate or a submission that is held back is none (attribution/record-touches.ts). */
async function countLeads(read: Connection): Promise<Map<number, number>> {
  const leads = new Map<number, number>()
  const deadline = performance.now() + READ_MS
  const newest = await sql<{ id: number | null }>`select max(submission_id) as id from touches`.execute(read)
  for (
    let end = newest.rows[0]?.id ?? 0;
    end > 0 && performance.now() < deadline;
    end -= SUBMISSIONS_AT_ONCE
  ) {
    await takeTurn()
    const { rows } = await sql<{ link_id: number; leads: number }>`
      select touches.link_id, count(*) as leads from touches
      join submissions on submissions.id = touches.submission_id
      where touches.submission_id > ${end - SUBMISSIONS_AT_ONCE} and touches.submission_id <= ${end}
        and touches.position = touches.touches - 1 and touches.link_id is not null
        and submissions.duplicate_of is null and submissions.announced = 1
      group by touches.link_id`.execute(read)
    for (const { link_id, leads: count } of rows)
      leads.set(link_id, (leads.get(link_id) ?? 0) + Number(count))
  }
  return leads
}
