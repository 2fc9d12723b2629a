// Recomputes a workspace's chain of proofs and the digest of each closed day, and names the days that differ.

import type { Connection } from '../../storage/database/open-database.ts'
import type { HitReader } from '../../storage/hits/hit-engine.ts'
import { type DayDigest, digestDay } from './day-digest.ts'
import { CHAIN_START, hashProof, type ProofRow, readChain } from './proof-chain.ts'

export interface VerifyNeeds {
  read: Connection
  hits: Pick<HitReader, 'ask'>
}

export interface DayDifference {
  day: string
  /** A part of a sentence. */
  what: string
  /** The day as it is now; absent where the entry itself is wrong. */
  now?: DayDigest
}

export interface Verification {
  entries: number
  /** Closed days that were recomputed. */
  days: number
  /** The hash of the last entry: to write down, and to compare later. */
  lastHash: string | null
  differences: DayDifference[]
}

/** @param findsAll goes on after the first day that differs */
export async function verifyChain(
  { read, hits }: VerifyNeeds,
  workspaceId: number,
  findsAll = false,
): Promise<Verification> {
  const latest = new Map<string, ProofRow>()
  const result: Verification = { entries: 0, days: 0, lastHash: null, differences: [] }
  for await (const row of readChain(read, workspaceId)) {
    const isNext = row.previous_hash === (result.lastHash ?? CHAIN_START)
    const isWhole = hashProof(row) === row.hash
    if (!isNext || !isWhole) {
      const what = isNext ? 'its entry was changed' : 'an entry before it was removed or put in'
      return { ...result, differences: [{ day: row.day, what }] }
    }
    result.lastHash = row.hash
    result.entries++
    latest.set(row.day, row)
  }
  for (const [day, proof] of [...latest].sort(([a], [b]) => (a < b ? -1 : 1))) {
    // What is past its retention cannot be recomputed.
    if (proof.kind === 'expired') continue
    const now = await digestDay(hits, workspaceId, day)
    result.days++
    if (now.digest === proof.digest) continue
    result.differences.push({ day, what: describeDifference(proof, now), now })
    if (!findsAll) break
  }
  return result
}

export const describeDifference = (proof: ProofRow, now: DayDigest) =>
  now.hits === proof.hits
    ? `it has ${now.hits} hits as when it was closed, but not the same ones`
    : `it had ${proof.hits} hits when it was closed, and has ${now.hits} now`
