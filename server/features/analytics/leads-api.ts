// GET /analytics/leads with its export, and GET /analytics/funnel (docs/contract.md §5).

import { apiRoute } from '../../http/api-route.ts'
import { EXPORT_MEDIA_TYPES, toFileNameHeader, toFileSchema } from '../../http/export-file.ts'
import { sendFile } from '../../http/send-file.ts'
import { toIso } from '../../lib/iso-time.ts'
import type { Database } from '../../storage/database/database.ts'
import type { HitReader } from '../../storage/hits/hit-engine.ts'
import { createApi } from '../accounts/access/api-env.ts'
import { recordExport } from '../accounts/audit/record-export.ts'
import { answerFunnel } from './answer-funnel.ts'
import { answerLeads, type LeadContext } from './answer-leads.ts'
import { createAnswerExplainer } from './explain.ts'
import { exportLeads } from './export-leads.ts'
import {
  FunnelAnswer,
  FunnelParameters,
  LeadAnswer,
  LeadExportParameters,
  LeadParameters,
  toFunnelQuestion,
  toLeadExportQuestion,
  toLeadQuestion,
} from './leads-schema.ts'
import { countedUntilHeader } from './parameters.ts'
import { toCompactTime } from './timeline.ts'

export interface LeadsApiNeeds extends LeadContext {
  db: Database
  hits: Pick<HitReader, 'ask' | 'explain' | 'countedUntil'>
}

const leads = apiRoute({
  method: 'get',
  path: '/analytics/leads',
  scope: 'analytics:read',
  operationId: 'countLeads',
  tags: ['Analytics'],
  summary: 'Count leads',
  description:
    'A lead is a submission that is neither a duplicate nor spam. Parameters and answers are those of ' +
    '`GET /analytics/clicks`, with `leads` in place of `clicks`, and with `form` and `page`. Link, campaign and ' +
    'referrer of a lead are those of its first or last touch, or of each touch with its part, depending on `model`. ' +
    '`qualified`, `won` and `value` are about outcomes whose `at` is in the range.',
  request: { query: LeadParameters },
  responses: {
    200: { description: 'The counts', content: { 'application/json': { schema: LeadAnswer } } },
  },
})

/** Ends the file when it makes no progress for this time. */
const SENDING_IDLE_SECONDS = 120

const leadExport = apiRoute({
  method: 'get',
  path: '/analytics/leads/export',
  // The file has email addresses.
  scope: ['analytics:read', 'submissions:read'],
  operationId: 'exportLeads',
  tags: ['Analytics'],
  summary: 'Export leads',
  description:
    'The leads themselves, oldest first, one a line (or row), with the range, filters and model of `GET /analytics/leads`. ' +
    'With model=linear a lead has a line for each of its touches. The sum of `credit` is the number of leads. What the ' +
    'visitor wrote is in `GET /forms/{formKey}/submissions/export`. In CSV, text that a spreadsheet would take for a ' +
    'formula has an apostrophe in front.',
  request: { query: LeadExportParameters },
  responses: {
    200: {
      description: 'The file',
      headers: toFileNameHeader('File name with the workspace and the range'),
      content: {
        'text/csv': toFileSchema('submissionId,time,form,formName,status,email,credit,linkId,…'),
        'application/x-ndjson': toFileSchema('{"submissionId":7,"time":"2026-03-29T12:00:00.000Z",…}'),
      },
    },
  },
})

const funnel = apiRoute({
  method: 'get',
  path: '/analytics/funnel',
  scope: 'analytics:read',
  operationId: 'getFunnel',
  tags: ['Analytics'],
  summary: 'Compare clicks, visits and leads',
  description:
    'Clicks, visits, leads, qualified and won leads and their value in total, or for each link, tag, campaign, source, channel, referrer or country. Each is ' +
    'counted in the range by itself. Totals include visits and leads without a link; with groupBy=link these are the ' +
    'row `link: null`, and `linkId=-0` leaves them out.',
  request: { query: FunnelParameters },
  responses: {
    200: {
      description: 'The counts; groups with the most clicks come first',
      headers: countedUntilHeader('The answer includes every click and visit'),
      content: { 'application/json': { schema: FunnelAnswer } },
    },
  },
})

export function createLeadsApi(needs: LeadsApiNeeds) {
  return createApi()
    .openapi(leads, async (c) => {
      const { explain, ...written } = c.req.valid('query')
      const actor = c.get('actor')
      const { groupBy, granularity } = written
      const explainer = explain && createAnswerExplainer({ ...needs, groupBy, granularity }, actor)
      const answer = await answerLeads(
        explainer ? { ...needs, ...explainer } : needs,
        actor,
        toLeadQuestion(written),
      )
      return c.json(explainer ? { ...answer, explain: explainer.list() } : answer, 200)
    })
    .openapi(leadExport, async (c) => {
      const question = toLeadExportQuestion(c.req.valid('query'))
      const actor = c.get('actor')
      const { pieces, range } = await exportLeads(needs, actor, question, c.req.raw.signal)
      const { format } = question
      // A filter that few leads pass sends nothing for a while.
      c.env?.setIdleSeconds?.(SENDING_IDLE_SECONDS)
      if (c.req.method !== 'HEAD') {
        const detail = { format, start: toIso(range.start), end: toIso(range.end) }
        const entry = { action: 'leads.exported', detail } as const
        await recordExport({ db: c.get('db'), now: needs.now }, actor, entry)
      }
      const name = `leads-${actor.workspaceId}-${toCompactTime(range.start)}-${toCompactTime(range.end)}.${format}`
      return sendFile(c, pieces, {
        'Content-Type': EXPORT_MEDIA_TYPES[format],
        'Content-Disposition': `attachment; filename=${name}`,
      })
    })
    .openapi(funnel, async (c) => {
      // Read the time before the query, so that the answer includes every click and visit before it.
      const countedUntil = needs.hits.countedUntil()
      const { explain, ...written } = c.req.valid('query')
      const actor = c.get('actor')
      const explainer = explain && createAnswerExplainer({ ...needs, groupBy: written.groupBy }, actor)
      const answer = await answerFunnel(
        explainer ? { ...needs, ...explainer } : needs,
        actor,
        toFunnelQuestion(written),
      )
      c.header('X-Counted-Until', toIso(countedUntil))
      return c.json(explainer ? { ...answer, explain: explainer.list() } : answer, 200)
    })
}
