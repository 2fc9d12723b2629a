// The REST API of outcomes (docs/contract.md §14).

import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import {
  apiRoute,
  dataResponse,
  IdParameter,
  jsonRequestBody,
  pageResponse,
  parseId,
} from '../../http/api-route.ts'
import { EXPORT_MEDIA_TYPES, toFileNameHeader, toFileSchema } from '../../http/export-file.ts'
import { sendFile } from '../../http/send-file.ts'
import { type ApiEnv, createApi } from '../accounts/access/api-env.ts'
import { recordExport } from '../accounts/audit/record-export.ts'
import { exportOutcomes } from './export-outcomes.ts'
import { listOutcomes } from './list-outcomes.ts'
import { deleteOutcome, recordOutcome, recordOutcomes } from './record-outcomes.ts'
import { CreateOutcomes, OutcomeExportQuery, OutcomeListQuery, OutcomeShape } from './schema.ts'

export interface OutcomesApiNeeds {
  now: () => number
  origin: string
}

/** A client that takes no byte for this long is disconnected. */
const SENDING_IDLE_SECONDS = 120

const outcomes = { tags: ['Submissions'] }
const Recorded = z.union([OutcomeShape, z.array(OutcomeShape)])

const routes = {
  list: apiRoute({
    ...outcomes,
    method: 'get',
    path: '/outcomes',
    scope: 'submissions:read',
    operationId: 'listOutcomes',
    summary: 'List outcomes of leads, latest first',
    request: { query: OutcomeListQuery },
    responses: { 200: pageResponse(OutcomeShape, 'A page of outcomes') },
  }),
  export: apiRoute({
    ...outcomes,
    method: 'get',
    path: '/outcomes/export',
    scope: 'submissions:read',
    operationId: 'exportOutcomes',
    summary: 'Export outcomes of leads',
    description:
      'The outcomes, oldest first. `google-ads` is the file of Google Ads for conversions from clicks: outcomes that are ' +
      'qualified or won, of leads whose form keeps `adClickIds`. In CSV, text that a spreadsheet would take for a formula ' +
      'has an apostrophe in front.',
    request: { query: OutcomeExportQuery },
    responses: {
      200: {
        description: 'The file',
        headers: toFileNameHeader('File name with the workspace and the format'),
        content: {
          'text/csv': toFileSchema('id,submissionId,form,linkId,clickId,email,stage,value,currency,at,…'),
        },
      },
    },
  }),
  create: apiRoute({
    ...outcomes,
    method: 'post',
    path: '/outcomes',
    takesList: true,
    scope: 'submissions:write',
    operationId: 'createOutcomes',
    summary: 'Record up to 100 outcomes of leads, all or nothing',
    description:
      'An outcome is a stage of a lead, with an optional value. Exactly one of `submissionId`, `email` and `clickId` ' +
      'names the lead. An `externalId` that is known changes its outcome. The answer to one outcome is one outcome, the ' +
      'answer to a list is a list in the order of the request.',
    request: {
      body: jsonRequestBody(CreateOutcomes, {
        outcomes: [
          {
            email: 'ada@example.com',
            stage: 'won',
            value: '1299.00',
            currency: 'EUR',
            externalId: 'order-1001',
          },
        ],
      }),
    },
    responses: {
      200: dataResponse(Recorded, 'The outcomes, where all of them were known by their `externalId`'),
      201: dataResponse(Recorded, 'The outcomes'),
    },
    fails: [409],
  }),
  delete: apiRoute({
    ...outcomes,
    method: 'delete',
    path: '/outcomes/{id}',
    scope: 'submissions:write',
    operationId: 'deleteOutcome',
    summary: 'Undo an outcome',
    request: { params: IdParameter },
    responses: { 200: dataResponse(OutcomeShape, 'The outcome as it was') },
    fails: [404],
  }),
}

export function createOutcomesApi({ now, origin }: OutcomesApiNeeds) {
  const toNeeds = (c: Context<ApiEnv>) => ({ now, origin, db: c.get('db') })
  return createApi()
    .openapi(routes.list, async (c) =>
      c.json(await listOutcomes(toNeeds(c), c.get('actor'), c.req.valid('query')), 200),
    )
    .openapi(routes.export, async (c) => {
      const { format, clickIdType, conversionName, ...by } = c.req.valid('query')
      const actor = c.get('actor')
      // A filter that few outcomes pass sends nothing for a while.
      c.env?.setIdleSeconds?.(SENDING_IDLE_SECONDS)
      const options = { format, clickIdType, conversionName, by }
      const pieces = exportOutcomes(toNeeds(c), actor, options, c.req.raw.signal)
      if (c.req.method !== 'HEAD')
        await recordExport(toNeeds(c), actor, {
          action: 'outcome.exported',
          detail: { format: format ?? 'csv' },
        })
      const name = format === 'google-ads' ? 'google-ads-conversions' : 'outcomes'
      return sendFile(c, pieces, {
        'Content-Type': EXPORT_MEDIA_TYPES.csv,
        'Content-Disposition': `attachment; filename=${name}-${actor.workspaceId}.csv`,
      })
    })
    .openapi(routes.create, async (c) => {
      const body = c.req.valid('json')
      if ('stage' in body) {
        const { outcome, created } = await recordOutcome(toNeeds(c), c.get('actor'), body)
        return c.json({ data: outcome }, created ? 201 : 200)
      }
      const inputs = Array.isArray(body) ? body : body.outcomes
      const { outcomes: data, created } = await recordOutcomes(toNeeds(c), c.get('actor'), inputs)
      return c.json({ data }, created ? 201 : 200)
    })
    .openapi(routes.delete, async (c) => {
      const id = parseId(c.req.valid('param').id)
      return c.json({ data: await deleteOutcome(toNeeds(c), c.get('actor'), id) }, 200)
    })
}
