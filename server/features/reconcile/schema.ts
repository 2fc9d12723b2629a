// The comparison with another tool's counts as JSON.

import { z } from '@hono/zod-openapi'
import { oneOf, text } from '../../lib/api-fields.ts'
import { isTimeZone } from '../../lib/date-range.ts'
import { HIT_CLASSES, type HitClass } from '../../storage/hits/hit.ts'
import { DATE_ORDERS } from '../transfer/schema.ts'

export const DAYS_MAX = 400
/** The body of a request has at most 1 MiB. */
const CSV_MAX = 1_000_000
/** A query has about as much room. */
const FILTER_MAX = 8192

export const METRICS = ['clicks', 'visitors'] as const
export type ReconciledMetric = (typeof METRICS)[number]

/** Hits that are recorded and not counted. */
export type LeftOutClass = Exclude<HitClass, 'human'>
export const LEFT_OUT_CLASSES = HIT_CLASSES.filter((name): name is LeftOutClass => name !== 'human')

const timezone = (description: string) =>
  text(1, 64)
    .refine(isTimeZone, 'must be an IANA time zone, such as Europe/Berlin')
    .optional()
    .openapi({ description, example: 'Europe/Berlin' })

export const Reconcile = z
  .strictObject({
    csv: text(1, CSV_MAX).openapi({
      description: `The text of the file: a column of dates and one of numbers, at most ${DAYS_MAX} days. Commas, semicolons or tabs`,
    }),
    timezone: timezone('Of our days; UTC when absent'),
    theirTimezone: timezone('Of the days in the file; as `timezone` when absent'),
    metric: oneOf(METRICS).optional().openapi({
      description: 'Our number to compare with; visitors where the column is one of users or visitors',
    }),
    countColumn: text(1, 200)
      .optional()
      .openapi({ description: 'The column of numbers; found by its name when absent' }),
    dateOrder: oneOf(DATE_ORDERS)
      .optional()
      .openapi({ description: 'Of dates such as 03/04/2026, where the file does not show it' }),
    filters: z
      .record(z.string(), z.string({ error: 'must be a string' }), {
        error: 'must be an object of filters',
      })
      .optional()
      .openapi({
        type: 'object',
        additionalProperties: { type: 'string', maxLength: FILTER_MAX },
        description: 'The filters of `GET /analytics/clicks`, written as there, so that both count the same',
        example: { country: 'US,BR' },
      }),
  })
  .openapi('Reconcile')
export type ReconcileInput = z.infer<typeof Reconcile>

const count = (description: string) => z.int().openapi({ description })
const LEFT_OUT_TEXTS: Record<string, string> = {
  bot: 'Hits of robots, previews of chat programs among them',
  prefetch: 'Hits of browsers that fetch ahead',
  head: 'HEAD requests',
  spam: 'Hits with a referrer of spam',
  internal: 'Hits of your own people',
}

const figures = {
  theirs: z.int().nullable().openapi({ description: 'null where the file has no row of the day' }),
  ours: count('In `timezone`'),
  difference: z.int().nullable().openapi({ description: '`theirs` less `ours`' }),
  timeZoneShift: count(
    'What `ours` gains when it is counted in `theirTimezone`: exactly this part of the difference',
  ),
  leftOut: z
    .strictObject(
      Object.fromEntries(
        LEFT_OUT_CLASSES.map((name) => [name, count(LEFT_OUT_TEXTS[name] ?? name)]),
      ) as Record<LeftOutClass, z.ZodInt>,
    )
    .openapi({ description: 'Hits that we record and leave out, and that another tool may count' }),
  imported: count('In `ours`, from an import: the other tool may not have them'),
  withoutVisit: z
    .int()
    .nullable()
    .openapi({
      description:
        'In `ours`, without a page view of our snippet: people without script, people who left first, and pages without the ' +
        'snippet. null where the snippet saw nobody in the whole range',
    }),
  explained: z.int().nullable().openapi({
    description: 'The most of the difference that all of these can explain together, with its sign',
  }),
  unexplained: z
    .int()
    .nullable()
    .openapi({ description: 'The rest: nothing that is known here explains it' }),
}

export const ReconciledDayShape = z.strictObject({ day: z.iso.date(), ...figures }).openapi('ReconciledDay')
export type ReconciledDay = z.infer<typeof ReconciledDayShape>

export const ReconciliationShape = z
  .strictObject({
    tool: z.enum(['ga4', 'plausible', 'bitly']).nullable().openapi({ description: 'As the columns tell' }),
    dateColumn: z.string(),
    countColumn: z.string(),
    metric: z.enum(METRICS),
    timezone: z.string(),
    theirTimezone: z.string(),
    total: z.strictObject(figures).openapi({ description: 'Of the days that the file has' }),
    days: z.array(ReconciledDayShape),
    notes: z.array(z.string()).openapi({ description: 'What the figures cannot show' }),
  })
  .openapi('Reconciliation')
export type Reconciliation = z.infer<typeof ReconciliationShape>
