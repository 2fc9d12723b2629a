// No success leaves before the disk has the submission that it acknowledges, to scripts and to forms without one.

import { expect } from 'bun:test'
import {
  createFormOverHttp,
  isAcknowledged,
  PROXY_ENVIRONMENT,
  type SubmissionMode,
  sendSubmission,
} from './form-submissions.ts'
import { testPowerLoss } from './power-loss.ts'

let sent = 0

testPowerLoss('{"ok":true} and every 303', {
  answerPrefixes: ['HTTP/1.1 200 ', 'HTTP/1.1 303 '],
  environment: PROXY_ENVIRONMENT,
  async begin(server, house) {
    const form = await createFormOverHttp(server, house)
    return async (marker) => {
      const mode: SubmissionMode = sent++ % 2 === 0 ? 'script' : 'native'
      expect(isAcknowledged(await sendSubmission(server, form, marker, mode), mode)).toBe(true)
    }
  },
})
