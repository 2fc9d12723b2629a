// A body that is made while it is sent.

import { describeError, log } from '../../../lib/log.ts'

/**
 * Takes the next piece when the one before is sent. What goes wrong on the way ends the connection: the receiver must
 * not take half a file for a whole one. @param requestId under which the log says why
 */
export function toTextStream(pieces: AsyncGenerator<string>, requestId: string): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const { value, done } = await pieces.next()
          if (done) controller.close()
          else controller.enqueue(encoder.encode(value))
        } catch (error) {
          log.error('export_ended_early', { requestId, ...describeError(error) })
          controller.error(error)
        }
      },
      async cancel() {
        await pieces.return(undefined)
      },
    },
    { highWaterMark: 0 },
  )
}
