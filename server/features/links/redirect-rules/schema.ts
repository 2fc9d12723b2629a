// The ordered redirect rules of a link as JSON: `{when, to}`. The first one that matches a visitor decides.

import { z } from '@hono/zod-openapi'
import { instant, oneOf, text } from '../../../lib/api-fields.ts'
import { readCountryCode } from '../../../lib/country-code.ts'
import { toIso } from '../../../lib/iso-time.ts'
import { ANY_VALUE } from '../../../lib/url-query.ts'
import { URL_MAX } from '../../../lib/web-url.ts'

export const RULE_DEVICES = ['mobile', 'tablet', 'desktop'] as const
export const RULE_SYSTEMS = ['ios', 'android', 'windows', 'macos', 'linux', 'chromeos'] as const
export type RuleDevice = (typeof RULE_DEVICES)[number]
export type RuleSystem = (typeof RULE_SYSTEMS)[number]

export const RULES_MAX = 20
const COUNTRIES_MAX = 250
const LANGUAGES_MAX = 50
const PARAMETERS_MAX = 10

/** One of these is enough. */
const anyOf = <T extends z.ZodType>(item: T, max: number, what: string) =>
  z
    .array(item, { error: `must be a list of ${what}` })
    .min(1, 'must have at least one item; leave it out to match all')
    .max(max, `must be at most ${max} ${what}`)
    .nullable()
    .optional()

const queryConditions = z
  .record(text(1, 100), text(0, 256), { error: 'must be an object of parameter names and values' })
  .refine((query) => Object.keys(query).length > 0, 'must name at least one parameter')
  .refine(
    (query) => Object.keys(query).length <= PARAMETERS_MAX,
    `must be at most ${PARAMETERS_MAX} parameters`,
  )
  .openapi({
    description: `Query parameters that the short URL must have. "${ANY_VALUE}" is any value`,
    example: { ref: 'partner' },
  })

const When = z
  .strictObject(
    {
      country: anyOf(
        z
          .string({ error: 'must be a two-letter country code' })
          .regex(/^[A-Za-z]{2}$/, 'must be a two-letter country code')
          .openapi({ example: 'DE' }),
        COUNTRIES_MAX,
        'countries',
      ),
      device: anyOf(oneOf(RULE_DEVICES), RULE_DEVICES.length, 'devices'),
      os: anyOf(oneOf(RULE_SYSTEMS), RULE_SYSTEMS.length, 'systems'),
      language: anyOf(
        z
          .string({ error: 'must be a language such as "de"' })
          .regex(/^[A-Za-z]{2,3}$/, 'must be a language of two or three letters, such as "de"')
          .openapi({ example: 'de', description: 'Primary language of BCP 47' }),
        LANGUAGES_MAX,
        'languages',
      ),
      query: queryConditions.nullable().optional(),
      after: instant().nullable().optional(),
      before: instant().nullable().optional(),
    },
    { error: ({ code }) => (code === 'invalid_type' ? 'must be an object of conditions' : undefined) },
  )
  .openapi({ description: 'All conditions must hold. Without a condition, the rule matches everybody' })

export const RulesInput = z
  .array(
    z.strictObject(
      { when: When, to: text(1, URL_MAX).openapi({ format: 'uri', example: 'https://example.com/de' }) },
      { error: ({ code }) => (code === 'invalid_type' ? 'must be an object of when and to' : undefined) },
    ),
    { error: 'must be a list of rules' },
  )
  .max(RULES_MAX, `must be at most ${RULES_MAX} rules`)

const RuleConditionsShape = z.strictObject({
  country: z.array(z.string()).optional(),
  device: z.array(z.enum(RULE_DEVICES)).optional(),
  os: z.array(z.enum(RULE_SYSTEMS)).optional(),
  language: z.array(z.string()).optional(),
  query: z.record(z.string(), z.string()).optional(),
  after: z.iso.datetime().optional(),
  before: z.iso.datetime().optional(),
})

export const RuleShape = z
  .strictObject({ when: RuleConditionsShape, to: z.string() })
  .openapi('RedirectRule', { description: 'The first rule of the list that matches a visitor decides' })

export const RuleWarningShape = z
  .strictObject({ rule: z.int().openapi({ description: 'Index of the rule' }), message: z.string() })
  .openapi('RedirectRuleWarning')

/** The stored and answered form of rules: without conditions that are null. */
export type RedirectRule = z.infer<typeof RuleShape>
export type RuleConditions = RedirectRule['when']
export type RuleWarning = z.infer<typeof RuleWarningShape>

const unique = (values: string[]) => [...new Set(values)]

/** The stored form of the rules. @param checkTarget gives a target's `href` */
export const toStoredRules = (
  rules: z.infer<typeof RulesInput>,
  checkTarget: (index: number, url: string) => string,
): RedirectRule[] =>
  rules.map(({ when, to }, index) => {
    const { country, language, after, before } = when
    const stored = {
      ...when,
      country: country && unique(country.map((code) => readCountryCode(code) ?? code.toUpperCase())),
      language: language && unique(language.map((each) => each.toLowerCase())),
      after: after && toIso(Date.parse(after)),
      before: before && toIso(Date.parse(before)),
    }
    const conditions = Object.fromEntries(Object.entries(stored).filter(([, value]) => value != null))
    return { when: conditions as RuleConditions, to: checkTarget(index, to) }
  })
