// GET /analytics/live: clicks and submissions as they come, as server-sent events (docs/contract.md §15b).

import { z } from '@hono/zod-openapi'
import { apiRoute } from '../../http/api-route.ts'
import { numberParameter } from '../../lib/api-fields.ts'
import { createApi } from '../accounts/access/api-env.ts'
import type { AccessRecheck } from '../accounts/access/recheck-access.ts'
import type { LiveHub } from './live-hub.ts'

export interface LiveApiNeeds {
  live: LiveHub
  recheckAccess: AccessRecheck
}

const SECONDS_MAX = 86_400

const live = apiRoute({
  method: 'get',
  path: '/analytics/live',
  scope: 'analytics:read',
  operationId: 'streamLive',
  tags: ['Analytics'],
  summary: 'Follow clicks and submissions as they come',
  description:
    'Server-sent events. `figures` has the last 30 minutes: totals, minutes, countries and links. `activity` has new clicks of ' +
    'people and new submissions, newest first: at most 50 of each, and `more` says how many clicks it leaves out. The stream ' +
    'ends when the key is revoked or the session ends.',
  request: {
    query: z.strictObject({
      seconds: numberParameter(0, SECONDS_MAX)
        .optional()
        .openapi({ description: 'The stream ends after this time; it stays open when absent', example: 0 }),
    }),
  },
  responses: {
    200: {
      description: 'The stream',
      content: {
        'text/event-stream': { schema: z.string().openapi({ example: 'event: figures\ndata: {…}' }) },
      },
    },
  },
})

export const createLiveApi = ({ live: hub, recheckAccess }: LiveApiNeeds) =>
  createApi().openapi(live, (c) => {
    const { workspaceId } = c.get('actor')
    const { seconds } = c.req.valid('query')
    const headers = {
      'Content-Type': 'text/event-stream',
      // nginx holds an answer back until its buffer is full (https://nginx.org/en/docs/http/ngx_http_proxy_module.html#proxy_buffering).
      'X-Accel-Buffering': 'no',
    }
    if (c.req.method === 'HEAD') return c.body(null, 200, headers) as never
    const check = recheckAccess(c.req.raw.headers)
    const endsAfterMs = seconds === undefined ? undefined : seconds * 1000
    const stream = hub.listen({ workspaceId, ...check, endsAfterMs })
    c.env?.setIdleSeconds?.(0)
    return c.body(stream, 200, headers) as never
  })
