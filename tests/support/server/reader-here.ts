// Runs the reader of imports in the process of the test. Only a reader that is stuck or crashes needs a process.

import type { StartReader } from '../../../server/features/transfer/reader/open-reader.ts'
import type { MessageFromReader } from '../../../server/features/transfer/reader/protocol.ts'
import { runReader } from '../../../server/features/transfer/reader/run-reader.ts'
import { runForNobody } from '../../../server/lib/telemetry/request-context.ts'

/** Messages are copied and come a turn later, in both directions, as they do between processes. */
export const startReaderHere: StartReader = ({ onMessage, onExit }) => {
  let hasEnded = false
  const later = (work: () => void) => runForNobody(() => setImmediate(() => hasEnded || work()))
  const reader = runReader((message: MessageFromReader) => {
    const copy = structuredClone(message)
    later(() => onMessage(copy))
  })
  return {
    post(message) {
      const copy = structuredClone(message)
      later(() => reader.receive(copy))
    },
    kill() {
      if (hasEnded) return
      hasEnded = true
      reader.end()
      runForNobody(() => setImmediate(() => onExit('SIGKILL')))
    },
  }
}
