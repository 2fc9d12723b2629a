// Answers with a file that is written while it is sent.

import type { Context } from 'hono'
import { describeError, log } from '../lib/log.ts'

type Pieces<T> = Pick<AsyncGenerator<T>, 'next' | 'return'>

/** Answers with a file that is written while it is sent; HEAD with its headers alone. Routes have no type for streams. */
export async function sendFile(
  c: Context,
  pieces: Pieces<string | Uint8Array>,
  headers: Record<string, string>,
): Promise<never> {
  const isHead = c.req.method === 'HEAD'
  if (isHead) await pieces.return(undefined)
  const body = isHead ? null : toByteStream(pieces, c.get('requestId'))
  return c.body(body as never, 200, headers) as never
}

/**
 * Reads the next piece after the previous one was sent. An error aborts the connection, so that half a file does not
 * look complete. @param requestId the log line about such an error has it
 */
export function toByteStream(
  pieces: Pieces<string | Uint8Array>,
  requestId: string,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const { value, done } = await pieces.next()
          if (done) controller.close()
          else controller.enqueue(typeof value === 'string' ? encoder.encode(value) : value)
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
