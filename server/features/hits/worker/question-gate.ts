// Passes questions to the worker: a limited number for each workspace, and equal questions at the same moment once. The worker
// answers three at a time, and workspaces take turns (storage/hits/duckdb/connections.ts).

import { Failure } from '../../../lib/failure.ts'
import type { ExplainedAnswer, HitQuery } from '../../../storage/hits/hit-engine.ts'
import { writeQuestion } from './protocol.ts'

/** A page of analytics has about ten questions. The slowest question on 50 million hits took 1.5 s, and three run at once. */
export const PENDING_PER_WORKSPACE = 32
const RETRY_AFTER_S = 2

export interface QuestionStats {
  /** Questions without an answer yet. */
  pending: number
  /** Since the start: questions that were refused, and questions that got the answer of another one. */
  refused: number
  shared: number
}

export interface QuestionGate {
  /** @throws Failure `too_many` when the workspace has enough questions pending */
  ask(query: HitQuery): Promise<ExplainedAnswer>
  stats(): QuestionStats
}

/**
 * @param send sends a question as text to the worker
 * @param readMoment two questions with the same moment see the same hits
 */
export function createQuestionGate(
  send: (question: string) => Promise<ExplainedAnswer>,
  readMoment: () => string,
): QuestionGate {
  const answers = new Map<string, Promise<ExplainedAnswer>>()
  const pending = new Map<number, number>()
  let [total, refused, shared] = [0, 0, 0]

  function count(workspaceId: number, change: 1 | -1) {
    const left = (pending.get(workspaceId) ?? 0) + change
    if (left > 0) pending.set(workspaceId, left)
    else pending.delete(workspaceId)
    total += change
  }

  return {
    async ask(query) {
      const { workspaceId } = query
      const written = writeQuestion(query)
      const question = typeof written === 'string' ? written : await written
      const key = `${readMoment()} ${question}`
      const same = answers.get(key)
      if (same) {
        shared++
        return same
      }
      if ((pending.get(workspaceId) ?? 0) >= PENDING_PER_WORKSPACE) {
        refused++
        throw tooManyQuestions()
      }
      count(workspaceId, 1)
      const answer = send(question).finally(() => {
        count(workspaceId, -1)
        answers.delete(key)
      })
      answers.set(key, answer)
      return answer
    },
    stats: () => ({ pending: total, refused, shared }),
  }
}

const tooManyQuestions = () =>
  new Failure(
    'too_many',
    `Too many questions of this workspace at once. Try again in ${RETRY_AFTER_S} seconds.`,
    { retryAfter: RETRY_AFTER_S },
  )
