// Writes a page of a list as JSON. A page can have megabytes, so each row is written in a turn of its own.

import { takeTurn } from '../concurrency/take-turn.ts'
import type { Page } from '../pagination.ts'
import { orderedJson } from './ordered-json.ts'

export async function encodePage({
  data,
  nextCursor,
  total,
}: Page<unknown>): Promise<Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder()
  const parts = [encoder.encode('{"data":[')]
  for (const [index, row] of data.entries()) {
    await takeTurn()
    parts.push(encoder.encode(`${index > 0 ? ',' : ''}${orderedJson(row)}`))
  }
  parts.push(encoder.encode(`],"nextCursor":${JSON.stringify(nextCursor)},"total":${total}}`))
  return new Uint8Array(Buffer.concat(parts))
}
