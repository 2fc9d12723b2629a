// The figures of a shared page as JSON, for programs that may see no more than people with the address.

import { toIso } from '../../../lib/iso-time.ts'
import type { SharedAnswer } from './answer-share.ts'

export function toSharedJson({ name, timezone, totals, metric, time, cards, proof }: SharedAnswer): Response {
  const { start, end, ...counts } = totals
  const data = {
    name,
    timezone,
    start: toIso(start),
    end: toIso(end),
    ...counts,
    metric,
    time: time.map(({ at, count }) => ({ time: toIso(at), count })),
    proof,
    groups: Object.fromEntries(cards.map(({ dimension, rows }) => [dimension, rows])),
  }
  return Response.json(
    { data },
    {
      headers: {
        'Cache-Control': 'private, no-store',
        'X-Robots-Tag': 'noindex',
        'Referrer-Policy': 'no-referrer',
      },
    },
  )
}
