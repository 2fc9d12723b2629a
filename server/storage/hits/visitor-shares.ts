// Counts visitors who do not fit into an engine's memory. A question that runs out of memory is repeated when no other such
// question runs. If it fails again, its visitors are counted in shares, which is slower but exact. A failure while other
// questions run is repeated when they have ended.

import type { FairQueue } from '../../lib/concurrency/fair-queue.ts'
import { log } from '../../lib/log.ts'
import type { HitAnswer, HitQuery } from './hit-engine.ts'

/** A share of the visitors. Each visitor is in exactly one share, so the answers of all shares add up. */
export interface VisitorShare {
  /** The number of shares. */
  of: number
  /** Counted from 0. */
  number: number
}

/** More shares would take minutes. */
const MAX_SHARES = 128
const FIRST_SHARES = 8

interface ShareCounterNeeds {
  ask(query: HitQuery, share?: VisitorShare): Promise<HitAnswer[]>
  isOutOfMemory(error: unknown): boolean
  /** The turns of questions that ran out of memory, by workspace. */
  largeQuestions: FairQueue<number>
}

export function createShareCounter({
  ask,
  isOutOfMemory,
  largeQuestions,
}: ShareCounterNeeds): (query: HitQuery) => Promise<HitAnswer[]> {
  /** The running first attempts, which may use the memory that a large question lacks. */
  const running = new Set<Promise<HitAnswer[]>>()

  async function askFirst(query: HitQuery): Promise<HitAnswer[]> {
    const asked = ask(query)
    running.add(asked)
    try {
      return await asked
    } finally {
      running.delete(asked)
    }
  }

  async function askOnce(query: HitQuery, of: number): Promise<HitAnswer[]> {
    if (of === 1) return ask(query)
    const answers: HitAnswer[] = []
    for (let number = 0; number < of; number++) answers.push(...(await ask(query, { of, number })))
    return mergeShares(answers, query)
  }

  /** Waits for other questions first: while they use the memory, every number of shares would fail within milliseconds. */
  async function askUndisturbed(query: HitQuery, of: number): Promise<HitAnswer[]> {
    const beside = [...running]
    try {
      return await askOnce(query, of)
    } catch (error) {
      beside.push(...running)
      if (!isOutOfMemory(error) || beside.length === 0) throw error
      await Promise.allSettled(beside)
      return askOnce(query, of)
    }
  }

  async function askLarge(query: HitQuery, of = 1): Promise<HitAnswer[]> {
    try {
      return await askUndisturbed(query, of)
    } catch (error) {
      if (!isOutOfMemory(error) || of >= MAX_SHARES) throw error
      if (of > 1) return askLarge(query, of * 4)
      log.info('hits.question_in_shares', { workspace: query.workspaceId, groupBy: query.groupBy.by })
      return askLarge(query, FIRST_SHARES)
    }
  }

  return async (query) => {
    try {
      return await askFirst(query)
    } catch (error) {
      if (!isOutOfMemory(error)) throw error
      // Most likely concurrent questions used the memory.
      return largeQuestions.run(query.workspaceId, () => askLarge(query))
    }
  }
}

/** Adds up the answers of all shares, and sorts them as one answer. */
export function mergeShares(answers: HitAnswer[], { groupBy }: HitQuery): HitAnswer[] {
  const merged = new Map<HitAnswer['key'], HitAnswer>()
  for (const { key, clicks, visitors } of answers) {
    const sum = merged.get(key)
    if (sum) Object.assign(sum, { clicks: sum.clicks + clicks, visitors: sum.visitors + visitors })
    else merged.set(key, { key, clicks, visitors })
  }
  const byKey = (a: HitAnswer, b: HitAnswer) => compareKeys(a.key ?? '', b.key ?? '')
  const isInTime = groupBy.by === 'total' || groupBy.by === 'time'
  return [...merged.values()].sort(isInTime ? byKey : (a, b) => b.clicks - a.clicks || byKey(a, b))
}

/** Compares keys as engines order them: numbers by size, texts by their bytes. */
export const compareKeys = (a: string | number, b: string | number) =>
  typeof a === 'number' && typeof b === 'number'
    ? a - b
    : Buffer.compare(Buffer.from(`${a}`), Buffer.from(`${b}`))
