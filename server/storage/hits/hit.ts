// The shape of a hit: one row of the engine, one line of a batch file. It has no address. Every text must be well-formed
// Unicode: an engine refuses a lone surrogate (`text.slice` can produce one), and with it the batch.

/**
 * The redirect's answer, or the snippet's event. Only `redirect` is a click. The other answers are stored because
 * owners want to see them. `landing` is the first page of a visit, `view` each later page.
 */
export const HIT_OUTCOMES = [
  'redirect',
  'expired',
  'missing',
  'password',
  'preview',
  'landing',
  'view',
] as const
export type HitOutcome = (typeof HIT_OUTCOMES)[number]

/**
 * The sender of the request: a person, a robot by its user agent, a browser that prefetches, a HEAD request, a spam or ignored
 * referrer, or a member of the workspace.
 */
export const HIT_CLASSES = ['human', 'bot', 'prefetch', 'head', 'spam', 'internal'] as const
export type HitClass = (typeof HIT_CLASSES)[number]

export const HIT_TRIGGERS = ['link', 'qr'] as const
export type HitTrigger = (typeof HIT_TRIGGERS)[number]

/** The visitor of an imported hit, whose tool does not distinguish visitors. */
export const NO_VISITOR = '0'

export interface Hit {
  /** Unique within a node: the position of the hit in the node's spool. At most 2^53 - 1. */
  id: number
  /** Milliseconds since the epoch. */
  at: number
  /** 0 if the slug is unknown on the default domain: the hit belongs to no workspace. */
  workspaceId: number
  /** 0 if the slug is unknown. */
  linkId: number
  outcome: HitOutcome
  class: HitClass
  trigger: HitTrigger
  /**
   * 64-bit keyed hash of address, user agent and workspace under the day's salt, as decimal digits. An engine stores a part
   * of it with the UTC day (day-visitor.ts). A hit with `NO_VISITOR` counts as a click, but not as a visitor.
   */
  visitor: string
  country: string | null
  region: string | null
  city: string | null
  continent: string | null
  device: string | null
  browser: string | null
  os: string | null
  /** Host without `www.`. null when the visitor came directly. */
  referrer: string | null
  /** The referring URL without query and fragment. */
  referrerUrl: string | null
  utmSource: string | null
  utmMedium: string | null
  utmCampaign: string | null
  utmTerm: string | null
  utmContent: string | null
  /** The requested slug if no link answered, for owners; else null. */
  unknownSlug: string | null
  /** The import of the hit; null if this server has recorded it. */
  importId: number | null
  /** The label of the split's variant; null without a split. */
  variant: string | null
  /** JSON of the query parameters that the workspace keeps, by name; null without one. */
  params: string | null
}

/** The dimensions that are columns of a hit. `tag`, `domain` and `slug` belong to a link and come from the rows. */
export const HIT_DIMENSIONS = [
  'country',
  'region',
  'city',
  'continent',
  'device',
  'browser',
  'os',
  'referrer',
  'referrerUrl',
  'utmSource',
  'utmMedium',
  'utmCampaign',
  'utmTerm',
  'utmContent',
  'trigger',
  'variant',
] as const
export type HitDimension = (typeof HIT_DIMENSIONS)[number]
