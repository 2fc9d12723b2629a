// One request for the questions that a page asks at the same moment: its totals, timeline and top lists. A question that is
// alone, such as a total that polls, is asked by itself, and so is one that boot.ts has asked before.

import { type Api, type QueryParameters, queryString } from './client.ts'
import { hasEarlyAnswer } from './early-answers.ts'

export type AnalyticsSubject = 'clicks' | 'leads' | 'funnel'

interface Question {
  about: AnalyticsSubject
  query: QueryParameters
  resolve: (answer: unknown) => void
  reject: (error: unknown) => void
}

/** The parts of a page ask in a few renders after each other. */
const GATHER_MS = 10
/** The server's maximum (docs/contract.md §5). */
const QUESTIONS_MAX = 20

/** The questions that wait to be sent, by workspace. */
const waiting = new Map<number, Question[]>()

/** @returns the whole answer of `GET /analytics/{about}` */
export const askAnalytics = <T>(api: Api, about: AnalyticsSubject, query: QueryParameters) =>
  new Promise<T>((resolve, reject) => {
    const question = { about, query, resolve: resolve as Question['resolve'], reject }
    if (hasEarlyAnswer(`/v1/analytics/${about}${queryString(query)}`, api.workspaceId))
      return void send(api, [question])
    const questions = waiting.get(api.workspaceId)
    if (questions) return questions.push(question)
    const gathered = [question]
    waiting.set(api.workspaceId, gathered)
    setTimeout(() => {
      waiting.delete(api.workspaceId)
      for (let at = 0; at < gathered.length; at += QUESTIONS_MAX) {
        void send(api, gathered.slice(at, at + QUESTIONS_MAX))
      }
    }, GATHER_MS)
  })

async function send(api: Api, questions: Question[]) {
  if (questions.length > 1) {
    try {
      const body = { questions: questions.map(({ about, query }) => ({ about, query: toTexts(query) })) }
      const answers = await api.post<unknown[]>('/analytics/batch', body, { isBackground: true })
      for (const [i, { resolve }] of questions.entries()) resolve(answers[i])
      return
    } catch {
      // One of them is refused, or the request failed: each one gets its own answer or error below.
    }
  }
  for (const { about, query, resolve, reject } of questions) {
    api.page(`/analytics/${about}`, { query }).then(resolve, reject)
  }
}

/** The parameters as the address would have them, without empty ones. */
function toTexts(query: QueryParameters): Record<string, string | string[]> {
  const parameters = new URLSearchParams(queryString(query))
  return Object.fromEntries(
    [...new Set(parameters.keys())].map((name) => {
      const values = parameters.getAll(name)
      return [name, values.length > 1 ? values : (values[0] ?? '')]
    }),
  )
}
