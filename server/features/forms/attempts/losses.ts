// The losses of a form: how its attempts ended in a date range, as counts by outcome and by field (docs/contract.md §6).

import { z } from '@hono/zod-openapi'
import { apiRoute, dataResponse } from '../../../http/api-route.ts'
import { invalid } from '../../../lib/failure.ts'
import { toIso } from '../../../lib/iso-time.ts'
import { DAY_MS, toUtcDay } from '../../../lib/utc-day.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import type { Actor } from '../../accounts/access/actor.ts'
import { createApi } from '../../accounts/access/api-env.ts'
import { FormKeyParameter } from '../schema.ts'
import { getFormId } from '../settings/form.ts'
import { SubmissionListQuery } from '../submissions/schema.ts'
import { ATTEMPT_OUTCOMES, type AttemptCounter, type AttemptOutcome } from './attempt-counter.ts'

/** The default range ends today and has this many days, as in analytics. */
const DAYS = 30

const { start, end } = SubmissionListQuery.shape
export const LossesQuery = z.strictObject({ start, end })

const OUTCOME_DESCRIPTIONS: Record<AttemptOutcome, string> = {
  stored: 'Became submissions, including duplicates and those marked as spam later',
  spam: 'Became submissions that a rule or the classifier marked as spam',
  rateLimited: 'Too many attempts from one address',
  origin: 'Attempts from a page that the form does not allow',
  tooLarge: 'Larger than a submission may be',
  unreadable: 'A malformed body, or an unsupported content type',
  honeypot: 'The field that people do not see was filled in',
  validation: 'A field was missing or wrong',
  captcha: 'No captcha token, or an invalid one',
}

const attempts = z.int().min(0)
export const LossesShape = z
  .strictObject({
    start: z.iso.datetime(),
    end: z.iso.datetime(),
    attempts: attempts.openapi({ description: 'All attempts' }),
    outcomes: z.strictObject(
      Object.fromEntries(
        ATTEMPT_OUTCOMES.map((name) => [name, attempts.openapi({ description: OUTCOME_DESCRIPTIONS[name] })]),
      ) as Record<AttemptOutcome, typeof attempts>,
    ),
    fields: z.array(z.strictObject({ field: z.string(), attempts })).openapi({
      description:
        'Attempts with an error in a field, most first; an attempt can have errors in several fields',
    }),
  })
  .openapi('FormLosses')
export type Losses = z.infer<typeof LossesShape>

/**
 * Counts are stored by UTC day, so a range that has a part of a day counts the whole day.
 * @throws Failure `not_found`, `invalid`
 */
export async function getLosses(
  { db, now }: { db: Pick<Database, 'read'>; now: () => number },
  actor: Actor,
  formKey: string,
  query: z.infer<typeof LossesQuery>,
): Promise<Losses> {
  const formId = await getFormId(db.read, actor, formKey)
  const { first, last } = toDayRange(query, now())
  const rows = await db.read
    .selectFrom('form_attempts')
    .select(['outcome', 'field'])
    .select((e) => e.fn.sum<number | string>('attempts').as('attempts'))
    .where('form_id', '=', formId)
    .where('day', '>=', toUtcDay(first))
    .where('day', '<=', toUtcDay(last))
    .groupBy(['outcome', 'field'])
    .orderBy('attempts', 'desc')
    .orderBy('field')
    .execute()
  const counts = rows.map((row) => ({ ...row, attempts: Number(row.attempts) }))
  // A row without a field counts attempts; a row with one counts mistakes in it.
  const byOutcome = new Map(
    counts.filter(({ field }) => field === '').map((row) => [row.outcome, row.attempts]),
  )
  const outcomes = Object.fromEntries(ATTEMPT_OUTCOMES.map((name) => [name, byOutcome.get(name) ?? 0]))
  return {
    start: toIso(first),
    end: toIso(last + DAY_MS),
    attempts: ATTEMPT_OUTCOMES.reduce((sum, name) => sum + (byOutcome.get(name) ?? 0), 0),
    outcomes: outcomes as Losses['outcomes'],
    fields: counts
      .filter(({ outcome, field }) => outcome === 'validation' && field !== '')
      .map(({ field, attempts }) => ({ field, attempts })),
  }
}

const startOfDay = (at: number) => Math.floor(at / DAY_MS) * DAY_MS

/** @returns the start of the first day and the start of the last day */
function toDayRange(
  { start, end }: z.infer<typeof LossesQuery>,
  now: number,
): { first: number; last: number } {
  if (start !== undefined && end !== undefined && start >= end) throw invalid({ start: 'must be before end' })
  const last = startOfDay(end === undefined ? Math.max(now, start ?? now) : end - 1)
  const first = start === undefined ? last - (DAYS - 1) * DAY_MS : startOfDay(start)
  return { first, last }
}

export interface LossesApiNeeds {
  attempts: Pick<AttemptCounter, 'flush'>
  now: () => number
}

const losses = apiRoute({
  method: 'get',
  path: '/forms/{formKey}/losses',
  scope: 'forms:read',
  operationId: 'getFormLosses',
  tags: ['Forms'],
  summary: 'Count how attempts to send a form ended',
  description:
    'Counts by UTC day. Nothing of what was sent is stored for them, nor of who sent it. Without start and end, the ' +
    'range is the last thirty days. A part of a day counts as the whole day.',
  request: { params: FormKeyParameter, query: LossesQuery },
  responses: { 200: dataResponse(LossesShape, 'The counts') },
  fails: [404],
})

export function createLossesApi({ attempts, now }: LossesApiNeeds) {
  return createApi().openapi(losses, async (c) => {
    // The answer has all counts of this process. Other processes write theirs each second.
    await attempts.flush()
    const { formKey } = c.req.valid('param')
    const data = await getLosses({ db: c.get('db'), now }, c.get('actor'), formKey, c.req.valid('query'))
    return c.json({ data }, 200)
  })
}
