// Reads the newest submission of a form over the API, once its attribution is decided.

import { until } from './until.ts'
import type { TestWorkspace } from './world.ts'

/** The API answers after 2 seconds with `pending`; a busy machine may need longer for the decision. */
const DECIDED_WITHIN_MS = 25_000

// biome-ignore lint/suspicious/noExplicitAny: tests read it in every shape
export function newestSubmission({ api }: Pick<TestWorkspace, 'api'>, formKey: string): Promise<any> {
  return until(
    'a decision about the newest submission',
    async () => {
      const { json } = await api(`/forms/${formKey}/submissions?limit=1`)
      return json.data[0].attribution !== 'pending' && json.data[0]
    },
    DECIDED_WITHIN_MS,
  )
}
