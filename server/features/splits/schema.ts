// The shape of a split that runs, as callers see it.

import { z } from '@hono/zod-openapi'
import { VariantFiguresShape } from '../links/split/schema.ts'

export const SplitShape = z
  .strictObject({
    startedAt: z.iso.datetime(),
    endsAt: z.iso.datetime().nullable(),
    variants: z.array(VariantFiguresShape),
    best: z.string().nullable().openapi({
      description: 'The variant that is better than each other one; null while it is too early to tell',
    }),
  })
  .openapi('Split')
export type SplitResource = z.infer<typeof SplitShape>
