// GET /proofs: the chain of a workspace's closed days (docs/contract.md §15b).

import { apiRoute, pageResponse } from '../../http/api-route.ts'
import { createApi } from '../accounts/access/api-env.ts'
import { listProofs } from './list-proofs.ts'
import { DayProofShape, ProofListQuery } from './schema.ts'

const route = apiRoute({
  method: 'get',
  path: '/proofs',
  scope: 'analytics:read',
  operationId: 'listProofs',
  tags: ['Analytics'],
  summary: 'List proofs of closed days, newest first',
  description:
    'Each closed UTC day has a digest of its figures, and each entry the hash of the one before. Who keeps a hash can show ' +
    'later that no day up to it was edited: the operator recomputes all of them with `towpath verify`.',
  request: { query: ProofListQuery },
  responses: { 200: pageResponse(DayProofShape, 'A page of proofs') },
})

export const createProofsApi = () =>
  createApi().openapi(route, async (c) =>
    c.json(await listProofs({ db: c.get('db') }, c.get('actor'), c.req.valid('query')), 200),
  )
