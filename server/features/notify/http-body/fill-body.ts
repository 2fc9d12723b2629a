// Fills the template of a body with what an event says.

import { orderedJson } from '../../../lib/formats/ordered-json.ts'
import { toIso } from '../../../lib/iso-time.ts'
import { type BodyType, escapeValue, parseBodyTemplate, RawJson } from './body-template.ts'
import { FIELD_PREFIX } from './placeholders.ts'

/** No service of the presets takes more. */
export const BODY_BYTES_MAX = 1024 * 1024

/** The values that a body can have. */
interface BodyContent {
  event: string
  messageId: string
  createdAt: number
  fields: ReadonlyMap<string, string>
  /** All that the event says, as JSON. */
  submissionJson: string
}

/** @returns undefined for a body that would be too large. @throws for a template that was never saved */
export function fillBody(template: string, type: BodyType, notice: BodyContent): string | undefined {
  const parts = parseBodyTemplate(template, type)
  if (typeof parts === 'string') throw new Error(`The body of a channel ${parts}`)
  const data: unknown = JSON.parse(notice.submissionJson)
  let body = ''
  for (const part of parts) {
    body += 'text' in part ? part.text : escapeValue(findValue(notice, data, part.path), type, part)
    if (body.length > BODY_BYTES_MAX) return undefined
  }
  return Buffer.byteLength(body) > BODY_BYTES_MAX ? undefined : body
}

function findValue(notice: BodyContent, data: unknown, path: string): unknown {
  if (path === 'event') return notice.event
  if (path === 'messageId') return notice.messageId
  if (path === 'timestamp') return toIso(notice.createdAt)
  // As text, because an object would sort fields that are named by numbers.
  if (path === 'data') return new RawJson(notice.submissionJson)
  if (path === 'fields') return new RawJson(orderedJson(notice.fields))
  if (path.startsWith(FIELD_PREFIX)) return notice.fields.get(path.slice(FIELD_PREFIX.length))
  return path.split('.').reduce<unknown>((value, name) => findOwn(value, name), data)
}

const findOwn = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined
