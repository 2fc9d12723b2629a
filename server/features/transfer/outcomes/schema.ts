// The shapes of an import of outcomes.

import { z } from '@hono/zod-openapi'
import { oneOf, parameter } from '../../../lib/api-fields.ts'
import { isTimeZone } from '../../../lib/date-range.ts'
import { OUTCOME_STAGES } from '../../../lib/outcome-stage.ts'

export const IMPORTED_OUTCOMES_MAX = 5_000
/** The body of a request has at most 1 MiB. */
const CSV_MAX = 1_000_000

export const OutcomeImport = z
  .strictObject({
    csv: z
      .string({ error: ({ input }) => (input === undefined ? 'is required' : 'must be a string') })
      .min(1, 'must not be empty')
      .max(CSV_MAX, `must be at most ${CSV_MAX} characters`)
      .openapi({
        description:
          `The text of the file, at most ${IMPORTED_OUTCOMES_MAX} rows: a header with \`email\`, \`value\`, \`currency\` and ` +
          '`at`, and where you have them `stage` and `externalId`. Commas, semicolons or tabs',
      }),
    stage: oneOf(OUTCOME_STAGES)
      .optional()
      .openapi({ description: 'Of rows that name none. won when absent' }),
    timezone: parameter(64)
      .refine(isTimeZone, 'must be an IANA time zone, for example Europe/Berlin')
      .optional()
      .openapi({ description: 'Of times that name no zone. UTC when absent' }),
  })
  .openapi('OutcomeImport')
export type OutcomeImportInput = z.infer<typeof OutcomeImport>

export const OutcomeImportResultShape = z
  .strictObject({
    rows: z.int(),
    created: z.int(),
    changed: z.int().openapi({ description: 'Rows whose outcome was known' }),
    failed: z.int(),
    errors: z
      .array(z.strictObject({ row: z.int(), field: z.string(), message: z.string() }))
      .openapi({ description: 'The first ones. The header is row 1' }),
  })
  .openapi('OutcomeImportResult')
export type OutcomeImportResult = z.infer<typeof OutcomeImportResultShape>
