// Sends a page of a list, compressed for clients that take gzip: fifty rows are some 50 KB, and a fifth of that compressed.

import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Context } from 'hono'
import { takeTurn } from '../lib/concurrency/take-turn.ts'
import { orderedJson } from '../lib/formats/ordered-json.ts'
import type { Page } from '../lib/pagination.ts'
import { acceptsGzip } from './static-file.ts'

/** In a thread of its own: a page can have megabytes. */
const compress = promisify(gzip)
/** A smaller answer fits in a few packets as it is. */
const COMPRESSED_FROM_BYTES = 4096
const LEVEL = 4

export async function sendPage(c: Context, page: Page<unknown>): Promise<never> {
  const json = await encodePage(page)
  c.header('Content-Type', 'application/json')
  c.header('Vary', 'Accept-Encoding', { append: true })
  if (json.byteLength < COMPRESSED_FROM_BYTES || !acceptsGzip(c.req.header('accept-encoding')))
    return c.body(json) as never
  c.header('Content-Encoding', 'gzip')
  return c.body(new Uint8Array(await compress(json, { level: LEVEL }))) as never
}

/** A page can have megabytes, so each row is written in a turn of its own. */
async function encodePage({ data, nextCursor, total }: Page<unknown>): Promise<Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder()
  const parts = [encoder.encode('{"data":[')]
  for (const [index, row] of data.entries()) {
    await takeTurn()
    parts.push(encoder.encode(`${index > 0 ? ',' : ''}${orderedJson(row)}`))
  }
  parts.push(encoder.encode(`],"nextCursor":${JSON.stringify(nextCursor)},"total":${total}}`))
  return new Uint8Array(Buffer.concat(parts))
}
