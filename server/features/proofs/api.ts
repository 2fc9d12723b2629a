// GET /proofs and GET /proofs/{day}: the chain of a workspace's closed days (docs/contract.md §15b).

import { apiRoute, dataResponse, pageResponse } from '../../http/api-route.ts'
import { createApi } from '../accounts/access/api-env.ts'
import { listProofs } from './list-proofs.ts'
import { DayProofShape, ProofCheckShape, ProofDay, ProofListQuery } from './schema.ts'
import type { VerifyNeeds } from './verify-chain.ts'
import { verifyDay } from './verify-day.ts'

const list = apiRoute({
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

const verify = apiRoute({
  method: 'get',
  path: '/proofs/{day}',
  scope: 'analytics:read',
  operationId: 'verifyProof',
  tags: ['Analytics'],
  summary: 'Recompute a closed day',
  description:
    'Counts the day again and compares it with its digest, and each of its entries with the one before. `towpath verify` does ' +
    'so for the whole chain.',
  request: { params: ProofDay },
  responses: { 200: dataResponse(ProofCheckShape, 'Whether the day is as it was closed') },
})

export const createProofsApi = ({ hits }: Pick<VerifyNeeds, 'hits'>) =>
  createApi()
    .openapi(list, async (c) =>
      c.json(await listProofs({ db: c.get('db') }, c.get('actor'), c.req.valid('query')), 200),
    )
    .openapi(verify, async (c) => {
      const { read } = c.get('db')
      const data = await verifyDay({ read, hits }, c.get('actor'), c.req.valid('param').day)
      return c.json({ data }, 200)
    })
