// The shape of a form's spam rules (docs/contract.md §13).

import { z } from '@hono/zod-openapi'
import { flag, PAGE_PARAMETERS, readAs, text, wholeNumber } from '../../../lib/api-fields.ts'
import { EMAIL_MAX, toEmailAddress } from '../../../lib/email.ts'
import { toWordPattern } from './fold-words.ts'

const RULES_MAX = 500
const RULE_MAX = 200
/** Each is compared with every word that has the longest part of it. */
const INNER_STARS_MAX = 100

interface RuleKind {
  noun: string
  example: string[]
  description: string
  /** @returns the mistake in a rule */
  findMistake: (rule: string) => string | undefined
}

const WORDS: RuleKind = {
  noun: 'words',
  example: ['casino', 'crypto*'],
  description: 'Whole words, ignoring case; `*` matches any letters of a word',
  findMistake(rule) {
    const pattern = toWordPattern(rule)
    if (pattern === '') return 'must have a letter, a digit or a symbol'
    const isPhrase = / ./.test(pattern.trimStart())
    return isPhrase && pattern.includes('*')
      ? 'may have * only at its ends when it has several words'
      : undefined
  },
}

const EMAILS: RuleKind = {
  noun: 'email addresses',
  example: ['*@spam.example'],
  description: 'Ignoring case; `*` matches any characters',
  findMistake: (rule) =>
    /\s/.test(rule) || !/[@*]/.test(rule) ? 'must be an address or *@ and a domain' : undefined,
}

const DOMAINS: RuleKind = {
  noun: 'domains',
  example: ['spam.example', '*.test'],
  description: 'Domains with their subdomains, of links and of the address; `*` matches any characters',
  findMistake: (rule) => (/[\s/@:]/.test(rule) ? 'must be a domain such as spam.example' : undefined),
}

const rules = ({ noun, example, description, findMistake }: RuleKind) =>
  z
    .array(
      text(1, RULE_MAX)
        .trim()
        .superRefine((rule, context) => {
          const isEmpty = !/[^*\s]/.test(rule)
          const message = isEmpty ? 'must have a character other than *' : findMistake(rule)
          if (message !== undefined) context.addIssue({ code: 'custom', message })
        }),
      { error: `must be a list of ${noun}` },
    )
    .max(RULES_MAX, `must be at most ${RULES_MAX} ${noun}`)
    .refine(
      (all) => all.filter((rule) => /[^*]\*+[^*]/.test(rule)).length <= INNER_STARS_MAX,
      `may have * inside in at most ${INNER_STARS_MAX} of them`,
    )
    .nullable()
    .optional()
    .openapi({ description, example })

export const SpamSettingsInput = z
  .strictObject({
    words: rules(WORDS),
    emails: rules(EMAILS),
    domains: rules(DOMAINS),
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

function readAllowedAddress(text: string): string | undefined {
  const [, star = '', rest = ''] = /^\s*(\*?)(.*)$/s.exec(text) ?? []
  const address = toEmailAddress(star ? `any${rest}` : rest)?.toLowerCase()
  return star ? address?.replace('any', '*') : address
}

export const AllowSender = z
  .strictObject({
    address: text(3, EMAIL_MAX)
      .transform(readAs(readAllowedAddress, 'must be an email address, or *@ and a domain'))
      .openapi({
        type: 'string',
        minLength: 3,
        maxLength: EMAIL_MAX,
        description: 'An address, or `*@example.com` for all of a domain',
      }),
  })
  .openapi('AllowSender')
export type AllowedSenderInput = z.infer<typeof AllowSender>

export const AllowedSenderShape = z
  .strictObject({ id: z.int(), address: z.string(), createdAt: z.iso.datetime() })
  .openapi('AllowedSender')
export type AllowedSenderResource = z.infer<typeof AllowedSenderShape>

export const AllowedSenderListQuery = z.strictObject(PAGE_PARAMETERS)
export type AllowedSenderListQueryInput = z.infer<typeof AllowedSenderListQuery>
