// Lists the proofs of a workspace's closed days, newest first, a page at a time.

import { toIso } from '../../lib/iso-time.ts'
import type { Page } from '../../lib/pagination.ts'
import { listNewest } from '../../storage/database/list-newest.ts'
import type { Database } from '../../storage/database/open-database.ts'
import type { Actor } from '../accounts/access/actor.ts'
import { CHAIN_START } from './proof-chain.ts'
import type { DayProofResource, ProofListQueryInput } from './schema.ts'

const ORDER = { name: 'proofs', table: 'day_proofs' }

/** @throws Failure `invalid` for a wrong cursor */
export async function listProofs(
  { db }: { db: Database },
  { workspaceId }: Pick<Actor, 'workspaceId'>,
  query: ProofListQueryInput,
): Promise<Page<DayProofResource>> {
  const proofs = db.read.selectFrom('day_proofs').selectAll().where('workspace_id', '=', workspaceId)
  const { rows, ...page } = await listNewest(proofs, query, ORDER)
  const data = rows.map(
    ({ day, kind, reason, hits, removed, digest, previous_hash, hash, created_at }): DayProofResource => ({
      day,
      kind: kind as DayProofResource['kind'],
      reason,
      hits,
      removed,
      digest,
      previousHash: previous_hash === CHAIN_START ? null : previous_hash,
      hash,
      createdAt: toIso(created_at),
    }),
  )
  return { data, ...page }
}
