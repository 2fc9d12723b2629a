// Turns a generator of texts into the body of a response.

import { describeError, log } from '../lib/log.ts'

/**
 * Takes the next text when the one before is sent. An error ends the connection, so that the receiver does not take
 * half a file for a whole one. @param requestId the log line about such an error has it
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
