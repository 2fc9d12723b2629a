// Turns a generator of texts or bytes into the body of a response.

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
  const body = isHead ? null : toTextStream(pieces, c.get('requestId'))
  return c.body(body as never, 200, headers) as never
}

/**
 * Reads the next text after the previous one was sent. An error aborts the connection, so that half a file does not
 * look complete. @param requestId the log line about such an error has it
 */
export function toTextStream(
  pieces: Pieces<string | Uint8Array>,
  requestId: string,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  return toStream(pieces, (piece) => (typeof piece === 'string' ? encoder.encode(piece) : piece), requestId)
}

/** The same for bytes. */
export const toByteStream = (pieces: Pieces<Uint8Array>, requestId: string) =>
  toStream(pieces, (bytes) => bytes, requestId)

function toStream<T>(
  pieces: Pieces<T>,
  toBytes: (piece: T) => Uint8Array,
  requestId: string,
): ReadableStream<Uint8Array> {
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const { value, done } = await pieces.next()
          if (done) controller.close()
          else controller.enqueue(toBytes(value))
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
