// No success leaves before the disk has the submission that it acknowledges, to scripts and to forms without one.

import { expect } from 'bun:test'
import { acknowledges, BEHIND_PROXY, type Mode, makeForm, send } from './forms.ts'
import { survivesPowerLoss } from './power-loss.ts'

let sent = 0

survivesPowerLoss('{"ok":true} and every 303', {
  answers: ['HTTP/1.1 200 ', 'HTTP/1.1 303 '],
  environment: BEHIND_PROXY,
  async begin(server, house) {
    const form = await makeForm(server, house)
    return async (marker) => {
      const mode: Mode = sent++ % 2 === 0 ? 'script' : 'native'
      expect(acknowledges(await send(server, form, marker, mode), mode)).toBe(true)
    }
  },
})
