// GET /analytics/sparklines: the clicks of many links by day, for small charts beside a list of links (docs/contract.md §5).

import { z } from '@hono/zod-openapi'
import { apiRoute, dataResponse } from '../../http/api-route.ts'
import { DAY_MS } from '../../lib/utc-day.ts'
import { readLinkDay } from '../../storage/hits/hit-engine.ts'
import { createApi } from '../accounts/access/api-env.ts'
import { askHits } from './answer-clicks.ts'
import type { AnswerContext, WorkspaceScope } from './resolve-selection.ts'

const DAYS = 30
/** A page of a list of links. */
const LINKS_MAX = 100

const SparklineQuery = z.strictObject({
  linkIds: z
    .string()
    .max(LINKS_MAX * 16)
    .regex(/^\d{1,15}(,\d{1,15})*$/, 'must be ids of links, with commas')
    .transform((text) => [...new Set(text.split(',').map(Number))])
    .refine((ids) => ids.length <= LINKS_MAX, `must be at most ${LINKS_MAX} ids`)
    .openapi({
      type: 'string',
      maxLength: LINKS_MAX * 16,
      description: `Up to ${LINKS_MAX} ids, with commas`,
      example: '1,2',
    }),
})

const Sparkline = z
  .strictObject({
    linkId: z.int(),
    clicks: z.array(z.int()).openapi({ description: `By UTC day: ${DAYS} numbers, the last is today's` }),
  })
  .openapi('Sparkline')

const sparklines = apiRoute({
  method: 'get',
  path: '/analytics/sparklines',
  scope: 'analytics:read',
  operationId: 'listSparklines',
  tags: ['Analytics'],
  summary: 'Clicks of many links by day',
  description: 'The clicks of people on each of the last 30 UTC days, for each link that has any.',
  request: { query: SparklineQuery },
  responses: { 200: dataResponse(z.array(Sparkline), 'One line for each link with clicks') },
})

export const createSparklinesApi = (needs: AnswerContext) =>
  createApi().openapi(sparklines, async (c) => {
    const { linkIds } = c.req.valid('query')
    return c.json({ data: await countSparklines(needs, c.get('actor'), linkIds) }, 200)
  })

async function countSparklines(
  needs: AnswerContext,
  { workspaceId }: WorkspaceScope,
  linkIds: number[],
): Promise<z.infer<typeof Sparkline>[]> {
  const today = Math.floor(needs.now() / DAY_MS)
  const first = today - DAYS + 1
  const answers = await askHits(needs, {
    workspaceId,
    start: first * DAY_MS,
    end: (today + 1) * DAY_MS,
    classes: ['human'],
    filters: [{ column: 'linkId', values: linkIds, negate: false }],
    groupBy: { by: 'linkDay' },
  })
  const lines = new Map<number, number[]>()
  for (const { key, clicks } of answers) {
    const { linkId, day } = readLinkDay(Number(key))
    const line = lines.get(linkId) ?? new Array<number>(DAYS).fill(0)
    line[day - first] = clicks
    lines.set(linkId, line)
  }
  return [...lines].map(([linkId, clicks]) => ({ linkId, clicks }))
}
