// GET /analytics/clicks: totals, timelines, top lists, and the export of the clicks (docs/contract.md §5).

import { apiRoute } from '../../http/api-route.ts'
import { EXPORT_MEDIA_TYPES, toFileNameHeader, toFileSchema } from '../../http/export-file.ts'
import { toFileBody } from '../../http/file-body.ts'
import { createExportLimiter } from '../../lib/concurrency/export-limiter.ts'
import { toIso } from '../../lib/iso-time.ts'
import { describeError, log } from '../../lib/log.ts'
import { createApi } from '../accounts/access/api-env.ts'
import { recordExport } from '../accounts/audit/record-export.ts'
import { answerClicks } from './answer-clicks.ts'
import { createAnswerExplainer } from './explain.ts'
import { type ExportContext, exportClicks } from './export-clicks.ts'
import { findOtherNote } from './kept-params.ts'
import { countedUntilHeader } from './parameters.ts'
import {
  ClickAnswer,
  ClickParameters,
  ExportParameters,
  toClickQuestion,
  toClickSelection,
} from './schema.ts'
import { toCompactTime } from './timeline.ts'

const headers = countedUntilHeader('The answer includes every click')

const clicks = apiRoute({
  method: 'get',
  path: '/analytics/clicks',
  scope: 'analytics:read',
  operationId: 'countClicks',
  tags: ['Analytics'],
  summary: 'Count clicks',
  description:
    'Totals, a timeline (groupBy=time) or a top list (groupBy=country …). Filters can be combined; each takes ' +
    'several values separated by commas, and a leading "-" excludes them. A comma in a value is written "\\,". ' +
    'A parameter that the workspace keeps (`keptParams`) is the filter and the group `param.<name>`.',
  request: { query: ClickParameters },
  responses: {
    200: {
      description: 'The counts',
      headers,
      content: { 'application/json': { schema: ClickAnswer } },
    },
  },
})

const clickExport = apiRoute({
  method: 'get',
  path: '/analytics/clicks/export',
  scope: 'analytics:read',
  operationId: 'exportClicks',
  tags: ['Analytics'],
  summary: 'Export clicks',
  description:
    'The clicks themselves, oldest first, one a line (or row), with the filters of `GET /analytics/clicks`. The file ' +
    'is complete before its first byte is sent. In CSV, text that a spreadsheet would take for a formula (it begins ' +
    'with = + - @, a tab or a carriage return) has an apostrophe in front.',
  request: { query: ExportParameters },
  responses: {
    200: {
      description: 'The file',
      headers: {
        ...headers,
        ...toFileNameHeader('File name with the workspace and the range'),
      },
      content: {
        'text/csv': toFileSchema('id,time,linkId,slug,domain,class,trigger,country,…'),
        'application/x-ndjson': toFileSchema('{"id":8388616,"time":"2026-03-29T12:00:00.000Z","linkId":1,…}'),
        'application/vnd.apache.parquet': toFileSchema('PAR1…'),
      },
    },
  },
})

/** Ends the response when the client reads no byte for this time. */
const SENDING_IDLE_SECONDS = 30

export function createAnalyticsApi(needs: Omit<ExportContext, 'limiter'>) {
  const exportNeeds = { ...needs, limiter: createExportLimiter() }
  return createApi()
    .openapi(clicks, async (c) => {
      // Read the time before the query, so that the answer includes every click before it.
      const countedUntil = needs.hits.countedUntil()
      const { explain, ...written } = c.req.valid('query')
      const actor = c.get('actor')
      const { hits } = needs
      const { groupBy, granularity } = written
      const explainer = explain && createAnswerExplainer({ ...needs, groupBy, granularity }, actor)
      const askNeeds = { ...needs, hits: explainer ? explainer.hits : hits }
      const data = await answerClicks(askNeeds, actor, toClickQuestion(written))
      c.header('X-Counted-Until', toIso(countedUntil))
      const note = findOtherNote({ groupBy, data })
      const explained = explainer && { explain: explainer.list() }
      return c.json({ data, ...(note && { note }), ...explained }, 200)
    })
    .openapi(clickExport, async (c) => {
      const { format = 'csv', ...written } = c.req.valid('query')
      const countedUntil = needs.hits.countedUntil()
      const selection = { ...toClickSelection(written), format }
      // A large export sends nothing for longer than the idle timeout.
      c.env?.setIdleSeconds?.(0)
      const file = await exportClicks(exportNeeds, c.get('actor'), selection, c.req.raw.signal)
      c.env?.setIdleSeconds?.(SENDING_IDLE_SECONDS)
      if (c.req.method !== 'HEAD') {
        const range = { start: toIso(file.selection.start), end: toIso(file.selection.end) }
        const entry = { action: 'clicks.exported', detail: { format, ...range } } as const
        await recordExport({ db: c.get('db'), now: needs.now }, c.get('actor'), entry).catch(
          async (error) => {
            await file.remove()
            throw error
          },
        )
      }
      const { workspaceId, start, end } = file.selection
      const name = `clicks-${workspaceId}-${toCompactTime(start)}-${toCompactTime(end)}.${format}`
      const remove = () => {
        file.remove().catch((error) => log.error('export_not_removed', describeError(error)))
      }
      const body = toFileBody(c.req.method, file.path, remove)
      return c.body(body as never, 200, {
        'Content-Type': EXPORT_MEDIA_TYPES[format],
        'Content-Length': String(file.bytes),
        'Content-Disposition': `attachment; filename=${name}`,
        'X-Counted-Until': toIso(countedUntil),
      }) as never
    })
}
