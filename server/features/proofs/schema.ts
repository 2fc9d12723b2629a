// Proofs of closed days as JSON.

import { z } from '@hono/zod-openapi'
import { PAGE_PARAMETERS } from '../../lib/api-fields.ts'

export const DayProofShape = z
  .strictObject({
    day: z.iso.date().openapi({ description: 'UTC' }),
    kind: z.enum(['closed', 'changed', 'expired']),
    reason: z.string().nullable().openapi({ description: 'Why a closed day has changed, or is gone' }),
    hits: z.int().openapi({ description: 'Hits of every kind' }),
    removed: z.int().nullable().openapi({ description: 'The number of deleted hits; null without any' }),
    digest: z.string().openapi({ description: 'SHA-256 of the figures of the day' }),
    previousHash: z.string().nullable().openapi({ description: 'null for the first entry' }),
    hash: z.string().openapi({ description: 'SHA-256 of this entry and `previousHash`' }),
    createdAt: z.iso.datetime(),
  })
  .openapi('DayProof')
export type DayProofResource = z.infer<typeof DayProofShape>

export const ProofCheckShape = z
  .strictObject({
    day: z.iso.date(),
    hash: z.string().openapi({ description: 'Of the last entry of the day' }),
    verified: z
      .boolean()
      .nullable()
      .openapi({ description: 'null where the retention has removed hits of the day' }),
    hits: z.int().nullable().openapi({ description: 'Hits now; null where they were not counted' }),
    message: z.string(),
  })
  .openapi('ProofCheck')
export type ProofCheckResource = z.infer<typeof ProofCheckShape>

export const ProofDay = z.strictObject({
  // What is no day has no proof.
  day: z.string().openapi({
    param: { name: 'day', in: 'path' },
    format: 'date',
    maxLength: 10,
    example: '2026-03-29',
    description: 'Of one that exists: `GET /v1/proofs` lists them',
  }),
})

export const ProofListQuery = z.strictObject(PAGE_PARAMETERS)
export type ProofListQueryInput = z.infer<typeof ProofListQuery>
