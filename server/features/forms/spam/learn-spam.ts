// Teaches the classifier of a workspace, in the transaction that changes the status of submissions, so the counts are
// always exact. The row of a submission keeps its features, so that exactly these can be removed later.

import { sql } from 'kysely'
import { cutIntoSteps, takeTurn } from '../../../lib/concurrency/take-turn.ts'
import type { Connection, OnCommit } from '../../../storage/database/open-database.ts'
import { readFeatures } from './features.ts'
import {
  createFeatureNumbers,
  decodeLesson,
  encodeLesson,
  type FeatureNumbers,
  type Lesson,
  type Verdict,
} from './number-features.ts'
import type { WorkspaceSpamCache } from './workspace-spam.ts'

export interface TaughtSubmission {
  id: number
  /** In the stored form. */
  learned: string | null
  /** The size of its fields. */
  bytes: number
}

export interface SpamLearner {
  /** Learns the verdict from submissions that have taught something else, or nothing. */
  learn(
    connection: Connection,
    onCommit: OnCommit,
    workspaceId: number,
    lesson: { verdict: Verdict; submissions: TaughtSubmission[] },
  ): Promise<void>
  /** Takes back all that the submissions have taught, before a person's data is erased. */
  unlearn(connection: Connection, onCommit: OnCommit, workspaceId: number, ids: number[]): Promise<void>
}

/** Reading and weighing a megabyte takes some milliseconds and blocks redirects on SQLite. */
const STEP_BYTES = 256 * 1024
const WORDS_AT_ONCE = 100

export function createSpamLearner(
  secret: string,
  cache: Pick<WorkspaceSpamCache, 'invalidate'>,
): SpamLearner {
  return {
    async learn(connection, onCommit, workspaceId, { verdict, submissions }) {
      const changed = submissions.filter(({ learned }) => decodeLesson(learned)?.verdict !== verdict)
      if (changed.length === 0) return
      const toNumber = createFeatureNumbers(secret, workspaceId)
      const counts = createCounts()
      for (const step of cutIntoSteps(changed, STEP_BYTES)) {
        await takeTurn()
        const lessons = await readLessons(connection, workspaceId, step, verdict, toNumber)
        for (const { id, learned } of step) {
          const lesson = lessons.get(id)
          if (!lesson) continue
          const old = decodeLesson(learned)
          if (old) counts.add(old, -1)
          counts.add(lesson, 1)
          await setLearned(connection, workspaceId, id, encodeLesson(lesson))
        }
      }
      await counts.store(connection, workspaceId)
      onCommit(() => cache.invalidate(workspaceId))
    },
    async unlearn(connection, onCommit, workspaceId, ids) {
      if (ids.length === 0) return
      const rows = await connection
        .selectFrom('submissions')
        .select(['id', 'learned'])
        .where('workspace_id', '=', workspaceId)
        .where('id', 'in', ids)
        .where('learned', 'is not', null)
        .execute()
      if (rows.length === 0) return
      const counts = createCounts()
      for (const { id, learned } of rows) {
        const lesson = decodeLesson(learned)
        if (lesson) counts.add(lesson, -1)
        await setLearned(connection, workspaceId, id, null)
      }
      await counts.store(connection, workspaceId)
      onCommit(() => cache.invalidate(workspaceId))
    },
  }
}

async function readLessons(
  connection: Connection,
  workspaceId: number,
  submissions: TaughtSubmission[],
  verdict: Verdict,
  toNumber: FeatureNumbers,
): Promise<Map<number, Lesson>> {
  const rows = await connection
    .selectFrom('submissions')
    .select(['id', 'fields', 'page_seconds'])
    .where('workspace_id', '=', workspaceId)
    .where(
      'id',
      'in',
      submissions.map(({ id }) => id),
    )
    .execute()
  return new Map(
    rows.map(({ id, fields, page_seconds: pageSeconds }) => {
      const features = readFeatures({ fields: new Map(JSON.parse(fields)), pageSeconds })
      return [id, { verdict, numbers: [...new Set([...features.keys()].map(toNumber))] }]
    }),
  )
}

const setLearned = (connection: Connection, workspaceId: number, id: number, learned: string | null) =>
  connection
    .updateTable('submissions')
    .set({ learned })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .execute()

/** Sums up changes of counts, so that a hundred submissions change each row once. */
function createCounts() {
  const totals = { spam: 0, good: 0 }
  const words = new Map<number, { spam: number; good: number }>()
  return {
    add({ verdict, numbers }: Lesson, change: 1 | -1) {
      totals[verdict] += change
      for (const number of numbers) {
        const word = words.get(number) ?? { spam: 0, good: 0 }
        word[verdict] += change
        words.set(number, word)
      }
    },
    async store(connection: Connection, workspaceId: number) {
      // First, because it locks the counts of the workspace: no other transaction changes them until the commit.
      await addToTotals(connection, workspaceId, totals)
      // One order everywhere, for the same reason.
      const rows = [...words]
        .filter(([, { spam, good }]) => spam !== 0 || good !== 0)
        .sort(([a], [b]) => a - b)
        .map(([word, change]) => ({ workspace_id: workspaceId, word, ...change }))
      for (let at = 0; at < rows.length; at += WORDS_AT_ONCE) {
        await takeTurn()
        await addToWords(connection, workspaceId, rows.slice(at, at + WORDS_AT_ONCE))
      }
    },
  }
}

/** A change of zero makes other nodes reload the data next to the counts. */
export async function addToTotals(
  connection: Connection,
  workspaceId: number,
  { spam, good }: { spam: number; good: number },
): Promise<void> {
  await connection
    .insertInto('spam_totals')
    .values({ workspace_id: workspaceId, spam, good, revision: 1 })
    .onConflict((conflict) =>
      conflict.column('workspace_id').doUpdateSet({
        spam: sql`spam_totals.spam + excluded.spam`,
        good: sql`spam_totals.good + excluded.good`,
        revision: sql`spam_totals.revision + 1`,
      }),
    )
    .execute()
}

async function addToWords(
  connection: Connection,
  workspaceId: number,
  rows: { workspace_id: number; word: number; spam: number; good: number }[],
): Promise<void> {
  await connection
    .insertInto('spam_words')
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(['workspace_id', 'word']).doUpdateSet({
        spam: sql`spam_words.spam + excluded.spam`,
        good: sql`spam_words.good + excluded.good`,
      }),
    )
    .execute()
  const lowered = rows.filter(({ spam, good }) => spam < 0 || good < 0).map(({ word }) => word)
  if (lowered.length === 0) return
  await connection
    .deleteFrom('spam_words')
    .where('workspace_id', '=', workspaceId)
    .where('word', 'in', lowered)
    .where('spam', '=', 0)
    .where('good', '=', 0)
    .execute()
}
