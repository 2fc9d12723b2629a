// The newest submission of a form over the API, once it is decided which link brought it.

import type { TestWorkspace } from './server/test-server.ts'
import { until } from './until.ts'

/** A busy machine may need longer for a decision than an answer waits for it. */
const DECIDED_WITHIN_MS = 25_000

// biome-ignore lint/suspicious/noExplicitAny: tests look into it
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
