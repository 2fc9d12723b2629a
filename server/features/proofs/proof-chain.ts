// The chain of a workspace's proofs: each entry has the hash of the one before, so that none can be changed, removed or
// put in later without changing all hashes after it.

import type { Insertable, Selectable } from 'kysely'
import { sha256Hex } from '../../lib/crypto/sha256.ts'
import type { Connection, Database } from '../../storage/database/open-database.ts'
import type { DayProofs } from '../../storage/database/tables/operation-tables.ts'

export type ProofRow = Selectable<DayProofs>
export type ProofKind = 'closed' | 'changed' | 'expired'

/** What an entry says. */
export interface ProofContent {
  day: string
  kind: ProofKind
  reason: string | null
  hits: number
  /** How many hits are gone; null but for `expired`. */
  removed: number | null
  digest: string
}

/** The hash before the first entry. */
export const CHAIN_START = ''
const ENTRIES_AT_ONCE = 500

type HashedColumns = Omit<Insertable<DayProofs>, 'id' | 'hash'>

export const hashProof = (row: HashedColumns) =>
  sha256Hex(
    JSON.stringify([
      row.workspace_id,
      row.day,
      row.kind,
      row.reason,
      row.hits,
      row.removed,
      row.digest,
      row.created_at,
      row.previous_hash,
    ]),
  )

/** Appends entries. A unique index on the hash before keeps two processes from two chains. */
export async function appendProofs(
  db: Database,
  workspaceId: number,
  contents: ProofContent[],
  at: number,
): Promise<void> {
  if (contents.length === 0) return
  await db.write(async (connection) => {
    const last = await connection
      .selectFrom('day_proofs')
      .select('hash')
      .where('workspace_id', '=', workspaceId)
      .orderBy('id', 'desc')
      .limit(1)
      .executeTakeFirst()
    let previous = last?.hash ?? CHAIN_START
    for (const content of contents) {
      const row = { workspace_id: workspaceId, ...content, created_at: at, previous_hash: previous }
      const hash = hashProof(row)
      await connection
        .insertInto('day_proofs')
        .values({ ...row, hash })
        .execute()
      previous = hash
    }
  })
}

export async function* readChain(read: Connection, workspaceId: number): AsyncGenerator<ProofRow> {
  for (let after = 0; ; ) {
    const rows = await read
      .selectFrom('day_proofs')
      .selectAll()
      .where('workspace_id', '=', workspaceId)
      .where('id', '>', after)
      .orderBy('id')
      .limit(ENTRIES_AT_ONCE)
      .execute()
    yield* rows
    if (rows.length < ENTRIES_AT_ONCE) return
    after = rows.at(-1)?.id ?? after
  }
}

/** The last entry of each day: what holds for it now. */
export async function readLatestProofs(
  read: Connection,
  workspaceId: number,
): Promise<Map<string, ProofRow>> {
  const latest = new Map<string, ProofRow>()
  for await (const row of readChain(read, workspaceId)) latest.set(row.day, row)
  return latest
}

/** The last closed day, and the newest hash, which covers all entries. */
export async function findLastProof(
  read: Connection,
  workspaceId: number,
): Promise<{ day: string; hash: string } | undefined> {
  const newest = (column: 'id' | 'day') =>
    read
      .selectFrom('day_proofs')
      .select(['day', 'hash'])
      .where('workspace_id', '=', workspaceId)
      .orderBy(column, 'desc')
      .limit(1)
      .executeTakeFirst()
  const [last, entry] = await Promise.all([newest('day'), newest('id')])
  return last && entry && { day: last.day, hash: entry.hash }
}
