// Lists the proofs of a workspace's closed days, newest first, a page at a time.

import { toIso } from '../../lib/iso-time.ts'
import { cutPage, orderById, type Page, readPageQuery } from '../../lib/pagination.ts'
import type { Database } from '../../storage/database/open-database.ts'
import type { Actor } from '../accounts/access/actor.ts'
import { CHAIN_START } from './proof-chain.ts'
import type { DayProofResource, ProofListQueryInput } from './schema.ts'

const ORDER = orderById('proofs')

/** @throws Failure `invalid` for a wrong cursor */
export async function listProofs(
  { db }: { db: Database },
  { workspaceId }: Pick<Actor, 'workspaceId'>,
  query: ProofListQueryInput,
): Promise<Page<DayProofResource>> {
  const { limit, after } = readPageQuery(query, ORDER)
  const own = db.read.selectFrom('day_proofs').where('workspace_id', '=', workspaceId)
  const page = after ? own.where('id', '<', after.id) : own
  const [found, total] = await Promise.all([
    page
      .selectAll()
      .orderBy('id', 'desc')
      .limit(limit + 1)
      .execute(),
    own.select((e) => e.fn.countAll<number>().as('n')).executeTakeFirstOrThrow(),
  ])
  const { rows, nextCursor } = cutPage(found, limit, ORDER)
  const data = rows.map(
    ({ day, kind, reason, hits, removed, digest, previous_hash, hash, created_at }): DayProofResource => ({
      ...{ day, kind: kind as DayProofResource['kind'], reason, hits, removed, digest },
      previousHash: previous_hash === CHAIN_START ? null : previous_hash,
      hash,
      createdAt: toIso(created_at),
    }),
  )
  return { data, nextCursor, total: Number(total.n) }
}
