// No success is sent before the submission is synced to the disk, to scripts and to forms without JavaScript.

import { expect } from 'bun:test'
import { BEHIND_PROXY } from '../support/form-requests.ts'
import {
  createFormOverHttp,
  isAcknowledged,
  type SubmissionMode,
  sendSubmission,
} from './form-submissions.ts'
import { testPowerLoss } from './power-loss.ts'

let sent = 0

testPowerLoss('{"ok":true} and every 303', {
  answerPrefixes: ['HTTP/1.1 200 ', 'HTTP/1.1 303 '],
  ...BEHIND_PROXY,
  async begin(server, installation) {
    const form = await createFormOverHttp(server, installation)
    return async (marker) => {
      const mode: SubmissionMode = sent++ % 2 === 0 ? 'script' : 'native'
      expect(isAcknowledged(await sendSubmission(server, form, marker, mode), mode)).toBe(true)
    }
  },
})
