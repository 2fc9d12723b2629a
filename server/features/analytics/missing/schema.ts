// Parameters and answers about unknown slugs.

import { z } from '@hono/zod-openapi'
import {
  filterParameter,
  LIMIT_DEFAULT,
  type QuestionSelection,
  RANGE_PARAMETERS,
  rowLimitParameter,
  toSelection,
} from '../parameters.ts'

export const MissingParameters = z.strictObject({
  ...RANGE_PARAMETERS,
  domain: filterParameter('domain'),
  limit: rowLimitParameter,
})

export interface MissingQuestion extends QuestionSelection<'domain'> {
  limit: number
}

/** @throws Failure `invalid` for parameters that cannot be combined */
export const toMissingQuestion = (written: z.infer<typeof MissingParameters>): MissingQuestion => ({
  ...toSelection(written, ['domain']),
  limit: written.limit ?? LIMIT_DEFAULT,
})

export const MissingSlugShape = z
  .strictObject({
    slug: z
      .string()
      .openapi({ description: 'As it is matched: in lower case, unless the domain is case-sensitive' }),
    domain: z.string(),
    hits: z.int().openapi({ description: 'Requests of people; robots and prefetches do not count' }),
    visitors: z.int().openapi({ description: 'Each counts once a day' }),
    lastAt: z.iso.datetime(),
    closest: z
      .string()
      .nullable()
      .openapi({ description: 'The most similar slug of a link; null when none is close' }),
    closestLinkId: z.int().nullable(),
    linkId: z
      .int()
      .nullable()
      .openapi({ description: 'The link that has this slug now; null when there is none' }),
  })
  .openapi('MissingSlug')

export const MissingAnswer = z
  .strictObject({
    data: z.array(MissingSlugShape).openapi({ description: 'Most hits first' }),
    otherHits: z.int().openapi({
      description: 'Requests for slugs that are too many to be kept one by one, or cannot be slugs',
    }),
  })
  .openapi('MissingAnswer')
export type MissingAnswerData = z.infer<typeof MissingAnswer>
