// Finds the lead that an outcome is about: a submission that is neither a duplicate nor spam, and that its sender has
// confirmed where the form asks for it.

import { sql } from 'kysely'
import type { Connection, DatabaseEngine } from '../../storage/database/open-database.ts'
import type { CreateOutcomeInput, LeadField } from './schema.ts'

interface Scope {
  connection: Connection
  engine: DatabaseEngine
  workspaceId: number
}

export type FoundLead = { id: number } | { field: LeadField; problem: string }

type Reference = Pick<CreateOutcomeInput, LeadField>

/**
 * An erased person, another workspace's lead and one that never was get the same answer.
 * @param at a lead that came later is not meant by an address or a click
 */
export async function findLead(scope: Scope, reference: Reference, at: number): Promise<FoundLead> {
  const { submissionId, email, clickId } = reference
  if (submissionId) return findById(scope, submissionId)
  if (email) {
    const id = await findLatest(scope, at, (leads) =>
      leads
        .where(sql<boolean>`lower(email) = ${email.toLowerCase()}`)
        // The partial index has this condition, so a query must repeat it to use the index.
        .where('email', 'is not', null),
    )
    return id === undefined
      ? { field: 'email', problem: 'no lead of this address came before this time' }
      : { id }
  }
  const id = await findLatest(scope, at, (leads) =>
    leads.where('click_id', '=', clickId ?? '').where('click_id', 'is not', null),
  )
  return id === undefined
    ? { field: 'clickId', problem: 'no lead of this click came before this time' }
    : { id }
}

/** On PostgreSQL the lead cannot be erased before the transaction ends. SQLite has one writer anyway. */
function selectSubmissions({ connection, engine, workspaceId }: Scope) {
  const rows = connection.selectFrom('submissions').where('workspace_id', '=', workspaceId)
  return engine === 'postgres' ? rows.forKeyShare() : rows
}

type Submissions = ReturnType<typeof selectSubmissions>

async function findLatest(
  scope: Scope,
  at: number,
  narrow: (leads: Submissions) => Submissions,
): Promise<number | undefined> {
  const row = await narrow(selectSubmissions(scope))
    .select('id')
    .where('created_at', '<=', at)
    .where('duplicate_of', 'is', null)
    .where('announced', '=', 1)
    .where('status', '<>', 'spam')
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.id
}

async function findById(scope: Scope, id: number): Promise<FoundLead> {
  const read = (which: number) =>
    selectSubmissions(scope)
      .select(['id', 'status', 'announced', 'duplicate_of'])
      .where('id', '=', which)
      .executeTakeFirst()
  const named = await read(id)
  // The same message, sent twice, is one lead.
  const row = named?.duplicate_of ? ((await read(named.duplicate_of)) ?? named) : named
  const refuse = (problem: string): FoundLead => ({ field: 'submissionId', problem })
  if (!row) return refuse(`there is no submission ${id}`)
  if (row.duplicate_of !== null) return refuse('is a duplicate of a deleted submission, and so no lead')
  if (row.status === 'spam') return refuse('is spam, and so no lead; mark it as not spam first')
  if (row.announced === 0) return refuse('is no lead before its sender has confirmed it')
  if (row.announced !== 1) return refuse('is a test, and so no lead')
  return { id: row.id }
}
