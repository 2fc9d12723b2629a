// Explains the origin of an answer (`explain=1`): the days that came from roll-ups, the days that came from hits, and
// why.

import { z } from '@hono/zod-openapi'
import { oneOf } from '../../lib/api-fields.ts'
import { Failure } from '../../lib/failure.ts'
import { toIso } from '../../lib/iso-time.ts'
import type { HitAnswer, HitQuery, HitReader } from '../../storage/hits/hit-engine.ts'
import { ORIGIN_KINDS, type OriginPart, type RawReason } from '../../storage/hits/rollups/answer-origin.ts'
import { type Actor, may } from '../accounts/access/actor.ts'
import { countOriginDays } from '../hits/rollups/question-origins.ts'
import { chooseGranularity, type Granularity, type TimeRange } from './timeline.ts'

export const explainParameter = oneOf(['1']).optional().openapi({
  description:
    'The answer says which days come from roll-ups, and why others do not. For owners and API keys; others get 403',
})

const REASONS: Record<RawReason, string> = {
  engine: 'ClickHouse has no roll-ups. It counts the clicks themselves.',
  question: 'Roll-ups do not have the sums that this question needs.',
  not_rolled_up: 'These days have not ended, or are not rolled up yet.',
  unavailable: 'The roll-ups cannot be read right now. If this persists, check the log.',
  no_hits: 'There are no clicks on these days.',
  edge: 'The range begins or ends within this UTC day. Only roll-ups of all clicks, without filters, can be cut: once a day, at a quarter hour.',
  bucket:
    'Steps of the timeline begin within UTC days, as hours do, and days of another time zone. Only roll-ups of all clicks, without filters, can be cut: once a day, at a quarter hour.',
  mixed: 'A visitor has several of these values on this day. Sums would count that visitor more than once.',
  mostly_hits: 'Most days of the range need their hits. Reading all of them at once is faster.',
  scattered:
    'Days that need their hits are scattered over the range. Reading the whole range at once is faster.',
  memory: 'Adding up the roll-ups needs more memory than the server may take.',
}
const LEADS_REASON = 'Leads are counted from the submissions in the database. Roll-ups do not have them.'

const ExplanationPart = z
  .strictObject({
    start: z.iso.datetime(),
    end: z.iso.datetime().openapi({ description: 'Exclusive' }),
    from: z.enum([...ORIGIN_KINDS, 'rows']).openapi({
      description:
        'Roll-ups: of `months`, of `days`, or of the `quarter_hours` of a day that is cut. Else the `hits` themselves, or the `rows` of leads',
    }),
    why: z.string().optional().openapi({ description: 'Of hits and rows: why there is no roll-up' }),
  })
  .openapi('ExplanationPart')

const Explanation = z
  .strictObject({
    question: z.string().openapi({
      example: 'clicks by country',
      description:
        'The counted data: `clicks by day` of a timeline, `visits by country (those with clicks)` of a funnel',
    }),
    parts: z.array(ExplanationPart).openapi({ description: 'They follow one another, and are the range' }),
    days: z.strictObject({ rolledUp: z.int(), hits: z.int() }).openapi({
      description:
        'UTC days of the range from the first to the last day on which the server has hits. A day of which any hit is read counts under `hits`',
    }),
  })
  .openapi('Explanation')
type Explanation = z.infer<typeof Explanation>

/** Beside `data`, in answers that explain themselves. */
export const explainFields = {
  explain: z
    .array(Explanation)
    .optional()
    .openapi({ description: 'Only with explain=1: one for each count in the answer' }),
}

/** Counts hits. */
export interface NotedHits {
  /** @param part the counted part of the answer, when several questions make one */
  ask(query: HitQuery, part?: string): Promise<HitAnswer[]>
}

export interface AnswerExplainer {
  /** Answers as the engine does, and notes where each answer comes from. */
  hits: NotedHits
  /** Leads were counted. */
  noteLeads(range: TimeRange): void
  list(): Explanation[]
}

export interface AnswerExplainerNeeds {
  hits: Pick<HitReader, 'explain'>
  now(): number
  /** As the question names it. */
  groupBy: string | undefined
  /** The granularity of a timeline. When absent, the range decides. */
  granularity?: Granularity
}

/** @throws Failure `forbidden` */
export function createAnswerExplainer(
  { hits, now, groupBy, granularity }: AnswerExplainerNeeds,
  actor: Actor,
): AnswerExplainer {
  if (!may(actor, 'analytics:explain'))
    throw new Failure('forbidden', 'Only owners of the workspace and API keys may ask with explain=1')
  const toLabel = (subject: string, range: TimeRange) => {
    if (groupBy === undefined) return `${subject} in total`
    return `${subject} by ${groupBy === 'time' ? (granularity ?? chooseGranularity(range)) : groupBy}`
  }
  // In the order of the questions: answers come in any order.
  const explanations: Explanation[] = []
  return {
    hits: {
      async ask(query, part) {
        const explanation: Explanation = {
          question: `${toLabel(toSubject(query), query)}${part ? ` (${part})` : ''}`,
          parts: [],
          days: { rolledUp: 0, hits: 0 },
        }
        explanations.push(explanation)
        const { answers, origin } = await hits.explain(query)
        explanation.parts = origin.map(toPart)
        explanation.days = countOriginDays(origin, now())
        return answers
      },
    },
    noteLeads({ start, end }) {
      const part = { start: toIso(start), end: toIso(end), from: 'rows' as const, why: LEADS_REASON }
      explanations.push({
        question: toLabel('leads', { start, end }),
        parts: [part],
        days: { rolledUp: 0, hits: 0 },
      })
    },
    list: () => explanations,
  }
}

const toSubject = ({ outcomes }: HitQuery) => (outcomes?.includes('landing') ? 'visits' : 'clicks')

const toPart = ({ start, end, from, why }: OriginPart): Explanation['parts'][number] => ({
  start: toIso(start),
  end: toIso(end),
  from,
  ...(why && { why: REASONS[why] }),
})
