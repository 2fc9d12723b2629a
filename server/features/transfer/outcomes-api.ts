// POST /v1/outcomes/import (docs/contract.md §14).

import { apiRoute, dataResponse, jsonRequestBody } from '../../http/api-route.ts'
import { createApi } from '../accounts/access/api-env.ts'
import { importOutcomes } from './outcomes/import-outcomes.ts'
import { OutcomeImport, OutcomeImportResultShape } from './outcomes/schema.ts'

const route = apiRoute({
  tags: ['Submissions'],
  method: 'post',
  path: '/outcomes/import',
  scope: 'submissions:write',
  shows: 'any',
  // Not needed: a repeated row changes its outcome.
  idempotent: false,
  operationId: 'importOutcomes',
  summary: 'Import outcomes of leads from a CSV file',
  description:
    'Each row is stored separately: the answer lists the invalid rows, and the others are stored. A row without ' +
    '`externalId` is recognized by its cells when the file is imported again.',
  request: {
    body: jsonRequestBody(OutcomeImport, {
      csv: 'email,value,currency,at\nada@example.com,1299.00,EUR,2030-05-10\n',
    }),
  },
  responses: { 200: dataResponse(OutcomeImportResultShape, 'The results of the rows') },
})

export const createOutcomeImportApi = ({ now, origin }: { now: () => number; origin: string }) =>
  createApi().openapi(route, async (c) =>
    c.json(
      { data: await importOutcomes({ db: c.get('db'), now, origin }, c.get('actor'), c.req.valid('json')) },
      200,
    ),
  )
