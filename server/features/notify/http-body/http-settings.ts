// The request of a channel of type http, as it is stored: checked as a whole, because a body depends on the type in the
// headers and on the events.

import type { ChannelEvent } from '../events/channel-events.ts'
import { parseBodyTemplate } from './body-template.ts'
import { isKnownPlaceholder } from './placeholders.ts'
import { findHeaderMistakes, type RequestHeaders, readBodyType } from './request-headers.ts'

export interface HttpSettings {
  headers: RequestHeaders
  body: string
}

/** @returns mistakes by field */
export function findHttpMistakes(
  { headers, body }: HttpSettings,
  events: readonly ChannelEvent[],
): Record<string, string> {
  const mistakes = findHeaderMistakes(headers)
  if (Object.keys(mistakes).length > 0) return mistakes
  const parts = parseBodyTemplate(body, readBodyType(headers))
  if (typeof parts === 'string') return { body: parts }
  for (const part of parts)
    if ('path' in part && !isKnownPlaceholder(part.path, events))
      return { body: `has the unknown placeholder {{${part.path.slice(0, 100)}}}` }
  return {}
}
