// Recomputes one closed day of a workspace, for people who want to see that it was not edited.

import { notFound } from '../../lib/failure.ts'
import { isCleanText } from '../../lib/text.ts'
import type { Connection } from '../../storage/database/open-database.ts'
import type { Actor } from '../accounts/access/actor.ts'
import { digestDay } from './day-digest.ts'
import { CHAIN_START, hashProof, type ProofRow } from './proof-chain.ts'
import type { ProofCheckResource } from './schema.ts'
import { describeDifference, type VerifyNeeds } from './verify-chain.ts'

/** @throws Failure `not_found` for a day that is not closed, `unavailable` when its hits cannot be counted now */
export async function verifyDay(
  { read, hits }: VerifyNeeds,
  { workspaceId }: Pick<Actor, 'workspaceId'>,
  day: string,
): Promise<ProofCheckResource> {
  // PostgreSQL stores no NUL, and does not look for one.
  if (!isCleanText(day)) throw notFound('Proof')
  const entries = await read
    .selectFrom('day_proofs')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('day', '=', day)
    .orderBy('id')
    .execute()
  const latest = entries.at(-1)
  if (!latest) throw notFound('Proof')
  const { hash } = latest
  for (const entry of entries) {
    const what = await findChainFault(read, entry)
    if (what) return { day, hash, verified: false, hits: null, message: `${what}.` }
  }
  if (latest.kind === 'expired') {
    const message = `${latest.removed ?? 0} hits were removed (${latest.reason}). The figures cannot be recomputed any more. The entry was not edited.`
    return { day, hash, verified: null, hits: null, message }
  }
  const now = await digestDay(hits, workspaceId, day)
  if (now.digest === latest.digest) {
    const message = `The day has the same ${now.hits} hits as when it was closed.`
    return { day, hash, verified: true, hits: now.hits, message }
  }
  return { day, hash, verified: false, hits: now.hits, message: `${describeDifference(latest, now)}.` }
}

/** @returns undefined where an entry is whole and follows the one before it */
async function findChainFault(read: Connection, entry: ProofRow): Promise<string | undefined> {
  if (hashProof(entry) !== entry.hash) return 'The entry was changed'
  const before = await read
    .selectFrom('day_proofs')
    .select('hash')
    .where('workspace_id', '=', entry.workspace_id)
    .where('id', '<', entry.id)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return entry.previous_hash === (before?.hash ?? CHAIN_START)
    ? undefined
    : 'An entry before it was removed, changed or put in'
}
