// The shape of a form's spam rules (docs/contract.md §13).

import { z } from '@hono/zod-openapi'
import { flag, text, wholeNumber } from '../../../lib/api-fields.ts'

const RULES_MAX = 500
const RULE_MAX = 200

const rules = (what: string, example: string[]) =>
  z
    .array(
      text(1, RULE_MAX)
        .trim()
        .refine((value) => /[^*\s]/.test(value), 'must have a character other than *'),
      { error: `must be a list of ${what}` },
    )
    .max(RULES_MAX, `must be at most ${RULES_MAX} ${what}`)
    .nullable()
    .optional()
    .openapi({ description: 'Without regard to case; `*` stands for any characters', example })

export const SpamSettingsInput = z
  .strictObject({
    words: rules('words', ['casino', 'crypto*']),
    emails: rules('e-mail addresses', ['*@spam.example']),
    domains: rules('domains', ['*.spam.example']),
    maxLinks: wholeNumber(0, 1000).nullable().optional().openapi({ description: 'Any number when null' }),
    learn: flag()
      .nullable()
      .optional()
      .openapi({ description: 'Lets the classifier of the workspace judge too; false when absent' }),
  })
  .transform(({ words, emails, domains, maxLinks, learn }) => ({
    words: [...new Set(words ?? [])],
    emails: [...new Set(emails ?? [])],
    domains: [...new Set(domains ?? [])],
    maxLinks: maxLinks ?? null,
    learn: learn ?? false,
  }))
  .openapi('SpamSettingsInput')

export const SpamSettingsShape = z
  .strictObject({
    words: z.array(z.string()),
    emails: z.array(z.string()),
    domains: z.array(z.string()),
    maxLinks: z.int().nullable(),
    learn: z.boolean(),
  })
  .openapi('SpamSettings')
export type SpamSettings = z.infer<typeof SpamSettingsShape>

export const NO_SPAM_RULES: SpamSettings = {
  words: [],
  emails: [],
  domains: [],
  maxLinks: null,
  learn: false,
}
export const DEFAULT_SPAM_RETENTION_DAYS = 30
