// Links and tags as JSON: the API validates requests with these schemas, and its reference is generated from them.

import { z } from '@hono/zod-openapi'
import {
  flag,
  idList,
  instant,
  must,
  oneOf,
  PAGE_PARAMETERS,
  parameter,
  text,
  wholeNumber,
} from '../../lib/api-fields.ts'
import { readCountryCode } from '../../lib/country-code.ts'
import { countCharacters, isCleanText, percentDecode } from '../../lib/text.ts'
import { URL_MAX } from '../../lib/web-url.ts'
import { RuleShape, RulesInput, RuleWarningShape } from './redirect-rules/schema.ts'
import { findSlugProblem, normalizeSlug } from './slug.ts'
import { SplitInput, SplitResultShape, VariantShape } from './split/schema.ts'

export const TAG_COLORS = [
  'red',
  'orange',
  'yellow',
  'green',
  'teal',
  'blue',
  'purple',
  'pink',
  'gray',
] as const
export const REDIRECT_STATUSES = [301, 302, 307, 308] as const
export const EXTRA_PATHS = ['ignore', 'append'] as const
export const LINK_SORTS = ['createdAt', 'clicks', 'lastClickedAt', 'slug'] as const
export const BULK_MAX = 100

/** Longer texts are cut off by every service that shows cards. */
export const CARD_TITLE_MAX = 120
export const CARD_DESCRIPTION_MAX = 240

export const TAGS_MAX = 100
const UTM_MAX = 255
const COUNTRIES_MAX = 250
/** Visible ASCII: no other rule can refuse it as a text. */
const PLAIN_URL = /^[!-~]{1,2000}$/

export const TagShape = z
  .strictObject({
    id: z.int(),
    name: z.string(),
    color: z.enum(TAG_COLORS),
    pinned: z
      .boolean()
      .openapi({ description: 'The tag is pinned to the sidebar of the dashboard, like a folder' }),
    links: z.int().openapi({ description: 'How many links have the tag' }),
    createdAt: z.iso.datetime(),
  })
  .openapi('Tag')

export const LinkShape = z
  .strictObject({
    id: z.int(),
    slug: z.string(),
    domain: z.string(),
    shortUrl: z.url(),
    destinationUrl: z.string(),
    title: z.string().nullable(),
    comments: z.string().nullable(),
    tags: z.array(TagShape.pick({ id: true, name: true, color: true }).openapi('LinkTag')),
    externalId: z.string().nullable(),
    archived: z.boolean(),
    startsAt: z.iso.datetime().nullable(),
    expiresAt: z.iso.datetime().nullable(),
    expiredUrl: z.string().nullable(),
    clickLimit: z.int().nullable(),
    leadLimit: z.int().nullable(),
    passwordProtected: z.boolean(),
    forwardQuery: z.boolean(),
    trackConversions: z.boolean(),
    geoTargeting: z.record(z.string(), z.string()),
    deviceTargeting: z.strictObject({
      ios: z.string().optional(),
      android: z.string().optional(),
      desktop: z.string().optional(),
    }),
    rules: z.array(RuleShape),
    ruleWarnings: z.array(RuleWarningShape).openapi({ description: 'Rules that can never match' }),
    extraPath: z.enum(EXTRA_PATHS),
    publicStats: z.boolean().openapi({ description: '`{shortUrl}+` shows the clicks of the link' }),
    split: z.array(VariantShape).nullable(),
    splitEndsAt: z.iso.datetime().nullable(),
    splitResult: SplitResultShape.nullable().openapi({ description: 'The result of the last split' }),
    redirectStatus: z.union(REDIRECT_STATUSES.map((status) => z.literal(status))),
    previewTitle: z.string().nullable(),
    previewDescription: z.string().nullable(),
    previewImage: z.string().nullable(),
    suspended: z.boolean().openapi({ description: 'The operator of the server has suspended the link' }),
    suspendedReason: z.string().nullable(),
    clicks: z.int().openapi({ description: 'Clicks of people, with `clicksBefore`' }),
    clicksBefore: z.int().openapi({
      description: 'Clicks that another tool counted before the import, without their history',
    }),
    leads: z.int(),
    lastClickedAt: z.iso.datetime().nullable(),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .openapi('Link')

/** Why a link stops redirecting by itself. */
export const CLOSE_REASONS = ['clickLimit', 'leadLimit', 'expired'] as const
export type CloseReason = (typeof CLOSE_REASONS)[number]

/** A link in the trash. */
export const TrashedLinkShape = z
  .strictObject({
    ...LinkShape.shape,
    deletedAt: z.iso.datetime(),
    purgesAt: z.iso
      .datetime()
      .openapi({ description: 'When the link is permanently deleted, 30 days later' }),
  })
  .openapi('TrashedLink')

export const EmptiedTrashShape = z
  .strictObject({ purged: z.int().openapi({ description: 'How many links are permanently deleted' }) })
  .openapi('EmptiedTrash')

export const SlugAvailabilityShape = z
  .strictObject({
    slug: z.string(),
    domain: z.string(),
    available: z.boolean(),
    reason: z.enum(['invalid', 'reserved', 'taken', 'trash']).nullable().openapi({
      description: 'null when available. `trash`: a link in the trash of this workspace has the slug',
    }),
    message: z.string().nullable(),
    linkId: z
      .int()
      .nullable()
      .openapi({ description: 'The link that has the slug, where it is one of this workspace' }),
  })
  .openapi('SlugAvailability')

export type LinkResource = z.infer<typeof LinkShape>
export type TrashedLinkResource = z.infer<typeof TrashedLinkShape>
export type SlugAvailability = z.infer<typeof SlugAvailabilityShape>
export type TagResource = z.infer<typeof TagShape>

/** More than any slug has before it is composed: composing a megabyte would take 20 ms. */
const SLUG_INPUT_MAX = 1000

export const slug = z
  .string({ error: must('must be a string') })
  .transform((value) => (value.length > SLUG_INPUT_MAX ? value : normalizeSlug(value)))
  .superRefine((value, context) => {
    const problem = findSlugProblem(value)
    if (problem) context.addIssue({ code: 'custom', message: problem })
  })
  .openapi({
    type: 'string',
    minLength: 1,
    maxLength: 190,
    example: 'spring-sale',
    description: 'One to eight segments, such as `docs/install`, of letters, digits, emoji, `-`, `_` and `.`',
  })

export const url = () => text(1, URL_MAX).openapi({ format: 'uri', example: 'https://example.com/landing' })
export const utm = () => text(1, UTM_MAX).nullable()
const tagName = text(1, 50)
  .trim()
  .refine((value) => value !== '', 'must not be blank')

/** One schema for a target: the check below runs it only on values that are not plain. */
const target = url().nullable()

/**
 * By hand, because a bulk request has up to 25,000 countries: zod's record takes 20 ms for valid ones, and 60 ms for wrong
 * ones.
 */
const geoTargeting = z
  .custom<Record<string, string | null>>(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    'must be an object of country codes and URLs',
  )
  .superRefine((targets, context) => {
    const codes = Object.keys(targets)
    if (codes.length > COUNTRIES_MAX) {
      context.addIssue({ code: 'custom', message: `must be at most ${COUNTRIES_MAX} countries` })
      return
    }
    for (const code of codes) {
      const problem = findTargetProblem(code, targets[code])
      if (problem !== undefined) context.addIssue({ code: 'custom', path: [code], message: problem })
    }
    if (new Set(codes.map((code) => readCountryCode(code) ?? code)).size < codes.length)
      context.addIssue({ code: 'custom', message: 'must name each country once' })
  })
  .openapi({
    type: ['object', 'null'],
    additionalProperties: {
      type: ['string', 'null'],
      minLength: 1,
      maxLength: URL_MAX,
      format: 'uri',
      example: 'https://example.com/landing',
    },
    example: { DE: 'https://example.com/de' },
  })

function findTargetProblem(code: string, value: unknown): string | undefined {
  if (!/^[A-Za-z]{2}$/.test(code)) return 'must be a two-letter country code'
  if (readCountryCode(code) === null) return 'must be a country of ISO 3166-1, or XK'
  if (value === null || (typeof value === 'string' && PLAIN_URL.test(value))) return undefined
  return target.safeParse(value).error?.issues[0]?.message
}

/** All fields of a link that a caller can set. Each is optional; `null` clears it. */
const fields = {
  slug: slug.optional(),
  domain: text(1, 255).nullable().optional().openapi({
    description:
      'The default domain, or a verified domain of the workspace. Absent or null: the primary domain of the workspace, else the default domain',
  }),
  title: text(1, 500).nullable().optional(),
  comments: text(1, 5000).nullable().optional(),
  tagIds: z
    .array(wholeNumber(1), { error: 'must be a list of tag ids' })
    .max(TAGS_MAX, `must be at most ${TAGS_MAX} tags`)
    .nullable()
    .optional(),
  tagNames: z
    .array(tagName, { error: 'must be a list of tag names' })
    .max(TAGS_MAX, `must be at most ${TAGS_MAX} tags`)
    .nullable()
    .optional()
    .openapi({ description: 'Unknown names are created. Give this or tagIds, not both' }),
  externalId: text(1, 255).nullable().optional(),
  archived: flag().nullable().optional(),
  startsAt: instant().nullable().optional(),
  expiresAt: instant().nullable().optional(),
  expiredUrl: url().nullable().optional(),
  clickLimit: wholeNumber(1).nullable().optional(),
  leadLimit: wholeNumber(1).nullable().optional(),
  password: text(1, 256).nullable().optional().openapi({ description: 'Write-only' }),
  forwardQuery: flag().nullable().optional(),
  trackConversions: flag().nullable().optional(),
  geoTargeting: geoTargeting.nullable().optional(),
  deviceTargeting: z
    .strictObject(
      {
        ios: url().nullable().optional(),
        android: url().nullable().optional(),
        desktop: url().nullable().optional(),
      },
      {
        error: (issue) =>
          issue.code === 'invalid_type' ? 'must be an object of ios, android, desktop' : undefined,
      },
    )
    .nullable()
    .optional(),
  rules: RulesInput.nullable().optional().openapi({
    description: 'At most 20. The first rule that matches decides, before deviceTargeting and geoTargeting',
  }),
  split: SplitInput.nullable().optional().openapi({
    description:
      'Two to eight variants of the destination, for visitors whom no rule and no targeting sends elsewhere. A visitor keeps a variant for a day',
  }),
  splitEndsAt: instant().nullable().optional().openapi({
    description:
      'When the split ends: the best variant becomes the destination, or the first where the difference may be chance',
  }),
  extraPath: oneOf(EXTRA_PATHS).nullable().optional().openapi({
    description:
      'append: a path after the slug, and its query, go to the end of the destination. ignore, when absent: such a path is not found',
  }),
  publicStats: flag().nullable().optional().openapi({
    description:
      'true: the preview page `{shortUrl}+` shows everybody the clicks of the link. false when absent',
  }),
  redirectStatus: z
    .union(
      REDIRECT_STATUSES.map((status) => z.literal(status)),
      { error: `must be one of ${REDIRECT_STATUSES.join(', ')}` },
    )
    .nullable()
    .optional(),
  previewTitle: text(1, CARD_TITLE_MAX).nullable().optional().openapi({
    description:
      'Title of the social card. Where one of the three is set, Facebook, Slack and others show this card, not the destination’s',
  }),
  previewDescription: text(1, CARD_DESCRIPTION_MAX).nullable().optional(),
  previewImage: text(1, URL_MAX)
    .nullable()
    .optional()
    .openapi({ format: 'uri', example: 'https://example.com/card.png', description: 'An https URL' }),
  utmSource: utm().optional(),
  utmMedium: utm().optional(),
  utmCampaign: utm().optional(),
  utmTerm: utm().optional(),
  utmContent: utm().optional(),
}

function checkTagFields(body: { tagIds?: unknown; tagNames?: unknown }, context: z.RefinementCtx) {
  if (body.tagIds && body.tagNames) {
    context.addIssue({ code: 'custom', path: ['tagNames'], message: 'cannot be combined with tagIds' })
  }
}

/** null is a drawn slug, as an absent one is: programs that write every field send null for an empty one. */
const slugOrNull = slug
  .nullable()
  .transform((value) => value ?? undefined)
  .openapi({ type: ['string', 'null'] })

export const CreateLink = z
  .strictObject({ destinationUrl: url(), ...fields, slug: slugOrNull.optional() })
  .superRefine(checkTagFields)
  .openapi('CreateLink')
export const UpdateLink = z
  .strictObject({ destinationUrl: url().optional(), ...fields })
  .superRefine(checkTagFields)
  .openapi('UpdateLink')

export type CreateLinkInput = z.infer<typeof CreateLink>
export type UpdateLinkInput = z.infer<typeof UpdateLink>

/** A list for a bulk request. */
export const bulk = <T extends z.ZodType>(item: T) =>
  z
    .array(item, { error: must('must be a list') })
    .min(1, 'must have at least one item')
    .max(BULK_MAX, `must be at most ${BULK_MAX} items`)

/** A list, or an object with the list as `links`. */
export const CreateLinks = z
  .union([bulk(CreateLink), z.strictObject({ links: bulk(CreateLink) })], {
    error: `must be a list of 1 to ${BULK_MAX} links, or an object with that list as links`,
  })
  .openapi('CreateLinks')

const UpdateLinkItem = z.strictObject({ id: wholeNumber(1), ...UpdateLink.shape }).superRefine(checkTagFields)
export const UpdateLinks = z
  .union(
    [
      bulk(UpdateLinkItem),
      z.strictObject({ links: bulk(UpdateLinkItem) }),
      z.strictObject({ ids: bulk(wholeNumber(1)), data: UpdateLink }),
    ],
    { error: `must be a list of 1 to ${BULK_MAX} changes with ids, such a list as links, or ids and data` },
  )
  .openapi('UpdateLinks')

const permanent = oneOf(['true', 'false'])
  .optional()
  .openapi({ description: 'true: permanently, also from the trash. The slug is free immediately' })

export const DeleteQuery = z.strictObject({ permanent })
export const BulkDeleteQuery = z.strictObject({ ids: idList(BULK_MAX), permanent })

export const RestoreLinks = z.strictObject({ ids: bulk(wholeNumber(1)) }).openapi('RestoreLinks')

export const TrashQuery = z.strictObject(PAGE_PARAMETERS)
export type TrashQueryInput = z.infer<typeof TrashQuery>

export const SlugQuery = z.strictObject({
  slug: parameter(SLUG_INPUT_MAX),
  domain: parameter(255).optional().openapi({ description: 'Where a new link would be, when absent' }),
})
export type SlugQueryInput = z.infer<typeof SlugQuery>

/** `*`, or quoted ETags separated by commas (RFC 9110, section 13.1.1). */
const IF_MATCH = /^(?:\*|(?:W\/)?"[!#-~]*"(?: *, *(?:W\/)?"[!#-~]*")*)$/

export const IfMatchHeader = z.object({
  'if-match': z
    .string()
    .max(1000, 'must be at most 1000 characters')
    .regex(IF_MATCH, 'must be an ETag, such as "2026-01-31T12:00:00.000Z" with its quotes')
    .optional()
    .openapi({
      maxLength: 1000,
      description:
        'The ETag of the link as you read it: its `updatedAt` in quotes. 412 when it has changed since',
    }),
})

/** A short URL is as long as its domain and its encoded slug are. */
const SHORT_URL_START = /^\s*(?:https?:\/\/)?[^\s/?#]{1,255}\//i
const SEARCH_MAX = 200

const searchParameter = z
  .string({ error: 'must be given once' })
  .refine(
    (text) => countCharacters(percentDecode(text.replace(SHORT_URL_START, ''))) <= SEARCH_MAX,
    `must be at most ${SEARCH_MAX} characters`,
  )
  .refine(isCleanText, 'must not contain NUL or broken Unicode characters')
  .openapi({
    maxLength: SEARCH_MAX,
    description:
      'Part of the slug, destination or title, without regard to case or marks, or a short URL, which may be longer',
  })

export const LinkListQuery = z.strictObject({
  ...PAGE_PARAMETERS,
  search: searchParameter.optional(),
  tagId: idList(100).optional().openapi({ description: 'Any of these tags' }),
  domain: parameter(255).optional(),
  archived: oneOf(['true', 'false', 'all']).optional().openapi({ description: 'false when absent' }),
  externalId: parameter(255).optional(),
  sort: oneOf(LINK_SORTS).optional(),
  order: oneOf(['asc', 'desc']).optional(),
})
export type LinkListQueryInput = z.infer<typeof LinkListQuery>

export const CreateTag = z
  .strictObject({
    name: tagName,
    color: oneOf(TAG_COLORS).nullable().optional(),
    pinned: flag().nullable().optional(),
  })
  .openapi('CreateTag')
export const UpdateTag = z
  .strictObject({
    name: tagName.optional(),
    color: oneOf(TAG_COLORS).nullable().optional(),
    pinned: flag().nullable().optional(),
  })
  .openapi('UpdateTag')
export type CreateTagInput = z.infer<typeof CreateTag>
export type UpdateTagInput = z.infer<typeof UpdateTag>

export const TagListQuery = z.strictObject({
  ...PAGE_PARAMETERS,
  search: parameter(200).optional(),
  pinned: oneOf(['true', 'false']).optional().openapi({ description: 'Only pinned, or only unpinned, tags' }),
})
export type TagListQueryInput = z.infer<typeof TagListQuery>
