// The figures of the last 30 minutes of a workspace: totals, minutes, countries and links, with the numbers of analytics.

import { answerClicks } from '../analytics/answer-clicks.ts'
import type { AnswerContext } from '../analytics/resolve-selection.ts'
import type { ClickQuestion } from '../analytics/schema.ts'
import type { LiveSubmission } from './live-submissions.ts'

export const LIVE_WINDOW_MS = 30 * 60_000
const MINUTE_MS = 60_000
const COUNTRIES = 60
const LINKS = 10

export interface LiveFigures {
  start: string
  end: string
  clicks: number
  visitors: number
  submissions: number
  minutes: { time: string; clicks: number; submissions: number }[]
  countries: { country: string; clicks: number }[]
  links: { link: number; slug: string | null; domain: string | null; clicks: number }[]
}

/** @param submissions of the last 30 minutes */
export async function readLiveFigures(
  needs: AnswerContext,
  workspaceId: number,
  submissions: readonly Pick<LiveSubmission, 'at'>[],
): Promise<LiveFigures> {
  const end = needs.now()
  // Whole minutes: the first bar is complete.
  const start = Math.floor(end / MINUTE_MS) * MINUTE_MS - LIVE_WINDOW_MS + MINUTE_MS
  const selection = { range: { start, end }, timezone: 'UTC', filters: [], classes: ['human' as const] }
  const ask = <Row>(asked: Pick<ClickQuestion, 'groupBy'> & { limit?: number }) =>
    answerClicks(needs, { workspaceId }, { ...selection, granularity: null, limit: 1, ...asked }).then(
      (data) => data as unknown as Row,
    )
  const [total, minutes, countries, links] = await Promise.all([
    ask<{ clicks: number; visitors: number }>({ groupBy: 'total' }),
    ask<{ time: string; clicks: number }[]>({ groupBy: 'time' }),
    ask<{ country: string; clicks: number }[]>({ groupBy: 'country', limit: COUNTRIES }),
    ask<LiveFigures['links']>({ groupBy: 'linkId', limit: LINKS }),
  ])
  const counted = submissions.filter(({ at }) => at >= start)
  const byMinute = Map.groupBy(counted, ({ at }) => Math.floor(at / MINUTE_MS) * MINUTE_MS)
  return {
    start: new Date(start).toISOString(),
    end: new Date(end).toISOString(),
    clicks: total.clicks,
    visitors: total.visitors,
    submissions: counted.length,
    minutes: minutes.map(({ time, clicks }) => ({
      time,
      clicks,
      submissions: byMinute.get(Date.parse(time))?.length ?? 0,
    })),
    countries: countries.map(({ country, clicks }) => ({ country, clicks })),
    links: links.map(({ link, slug, domain, clicks }) => ({ link, slug, domain, clicks })),
  }
}
