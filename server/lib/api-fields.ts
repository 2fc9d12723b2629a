// The building blocks of the wire shapes. Every schema of the API uses them, so that rules and messages are the same
// everywhere, and in the API reference.

import { z } from '@hono/zod-openapi'
import { type DateBounds, parseDateRange } from './date-range.ts'
import { normalizeOrigin, ORIGIN_MAX } from './normalize-origin.ts'
import { countCharacters, isCleanText } from './text.ts'

const TYPE_NAMES: Record<string, string> = {
  array: 'a list',
  object: 'an object',
  record: 'an object',
  boolean: 'true or false',
  int: 'a whole number',
}

// Default messages, because zod's messages name types of JavaScript.
z.config({
  customError({ code, expected, input, values, minimum, maximum, origin }) {
    if (input === undefined) return 'is required'
    if (code === 'invalid_type') return `must be ${TYPE_NAMES[String(expected)] ?? `a ${expected}`}`
    if (code === 'invalid_key') return 'is not a known name'
    if (code === 'invalid_value') return `must be one of ${(values as unknown[]).join(', ')}`
    const unit = { array: ' entries', string: ' characters' }[String(origin)] ?? ''
    if (code === 'too_small' && origin === 'array' && minimum === 1) return 'must have at least one item'
    if (code === 'too_small') return `must be at least ${minimum}${unit}`
    if (code === 'too_big') return `must be at most ${maximum}${unit}`
    return undefined
  },
})

/** The message is "is required" for an absent value. */
export const must = (message: string) => (issue: { input?: unknown }) =>
  issue.input === undefined ? 'is required' : message

/** Text of a bounded length that every store can hold. */
export const text = (min: number, max: number) =>
  z
    .string({ error: must('must be a string') })
    .refine(
      (value) => countCharacters(value) >= min,
      min === 1 ? 'must not be empty' : `must be at least ${min} characters`,
    )
    // Later checks and transformations get only texts of bounded length.
    .refine((value) => countCharacters(value) <= max, {
      error: `must be at most ${max} characters`,
      abort: true,
    })
    .refine(isCleanText, 'must not contain NUL or broken Unicode characters')
    .openapi({ minLength: min, maxLength: max })

export const flag = () => z.boolean({ error: must('must be true or false') })

export const wholeNumber = (min: number, max = Number.MAX_SAFE_INTEGER) =>
  z
    .int({ error: must('must be a whole number') })
    .min(min, `must be at least ${min}`)
    .max(max, `must be at most ${max}`)

/** ISO 8601 with a zone. */
export const instant = () =>
  z.iso
    .datetime({ offset: true, error: 'must be an ISO 8601 time with a zone, such as 2026-01-31T12:00:00Z' })
    .refine((value) => Number.isFinite(Date.parse(value)), 'is not a moment that exists')

/** A transformation that refuses the values that `read` cannot read. */
export const readAs =
  <Input, Output>(read: (value: Input) => Output | undefined, message: string) =>
  (value: Input, context: z.RefinementCtx): Output => {
    const output = read(value)
    if (output !== undefined) return output
    context.addIssue({ code: 'custom', message })
    return z.NEVER
  }

/** An origin, or all hosts below one, in the form that is stored. */
export const originPattern = () =>
  text(1, ORIGIN_MAX)
    .transform(
      readAs(normalizeOrigin, 'must be an origin such as https://example.com or https://*.example.com'),
    )
    .openapi({ type: 'string', minLength: 1, maxLength: ORIGIN_MAX, example: 'https://*.example.com' })

/** A query parameter that is a whole number. */
export const numberParameter = (min: number, max: number) =>
  z
    .string({ error: must('must be given once') })
    .regex(/^\d{1,15}$/, 'must be a whole number')
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be from ${min} to ${max}`)
    .openapi({ type: 'integer', minimum: min, maximum: max })

/** A query parameter given once. */
export const parameter = (max: number) =>
  z
    .string({ error: must('must be given once') })
    .refine((value) => countCharacters(value) <= max, `must be at most ${max} characters`)
    .refine(isCleanText, 'must not contain NUL or broken Unicode characters')
    .openapi({ maxLength: max })

/** The query parameters of every list. */
export const PAGE_PARAMETERS = {
  limit: numberParameter(1, 100).optional(),
  cursor: parameter(1000).optional(),
}

/** A range wide enough for every workspace, so that either end can be given alone. */
export const EXAMPLE_DATES: Record<keyof DateBounds, string> = { start: '2026-03-29', end: '2030-12-31' }

/** A query parameter that is one end of a date range: an instant or a date. Its value is in milliseconds. */
export const dateRangeEnd = (which: keyof DateBounds, description: string) =>
  parameter(40)
    .transform(
      readAs(
        (input: string) => parseDateRange(input)?.[which],
        'must be an ISO 8601 time or date, such as 2026-03-29 or 2026-03-29T12:00:00Z',
      ),
    )
    .optional()
    .openapi({ type: 'string', maxLength: 40, description, example: EXAMPLE_DATES[which] })

/** A refinement of a query with both ends of a date range. */
export function requireStartBeforeEnd(
  { start, end }: { start?: number; end?: number },
  context: z.RefinementCtx,
): void {
  if (start === undefined || end === undefined || start < end) return
  context.addIssue({ code: 'custom', path: ['start'], message: 'must be before end' })
}

/** Refuses parameters that mean nothing in the format. @param formats those in which they do */
export function requireFormat(
  context: z.RefinementCtx,
  format: string | undefined,
  formats: string[],
  parameters: Record<string, unknown>,
): void {
  if (format !== undefined && formats.includes(format)) return
  const message = `goes with ${formats.map((name) => `format=${name}`).join(' and ')} only`
  for (const [name, value] of Object.entries(parameters))
    if (value !== undefined) context.addIssue({ code: 'custom', path: [name], message })
}

/** One of a few words. The message lists them. */
export const oneOf = <const T extends readonly [string, ...string[]]>(values: T) =>
  z.enum(values, { error: `must be one of ${values.join(', ')}` })

/** Ids in a query parameter: `1,2,3`. The parameter may be repeated. */
export const idList = (max: number) =>
  z
    .union([z.string(), z.array(z.string())], { error: must('must be ids separated by commas') })
    .transform((value) => [value].flat().flatMap((part) => part.split(',')))
    .refine((parts) => parts.every((part) => /^\d{1,15}$/.test(part)), 'must be ids separated by commas')
    .refine((parts) => parts.length <= max, `must be at most ${max} ids`)
    .transform((parts) => parts.map(Number))
    .openapi({
      type: 'string',
      pattern: '^\\d{1,15}(,\\d{1,15})*$',
      maxLength: 16 * max - 1,
      example: '1,2',
    })
