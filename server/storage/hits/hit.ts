// The shape of a hit: one row of the engine, one line of a batch file. It holds no address. Every text must be
// well-formed Unicode: an engine refuses a lone surrogate (`text.slice` can make one), and with it the batch.

/**
 * The redirect's answer, or the snippet's event. Only `redirect` is a click. The other answers are kept because
 * owners want to know of them. `landing` is the first page of a visit, `view` each later page.
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
 * Who sent the request: a person, a robot by its user agent, a browser that prefetches, a HEAD request, a program whose
 * referrer advertises a site or one that the workspace ignores, or somebody of the workspace itself.
 */
export const HIT_CLASSES = ['human', 'bot', 'prefetch', 'head', 'spam', 'internal'] as const
export type HitClass = (typeof HIT_CLASSES)[number]

export const HIT_TRIGGERS = ['link', 'qr'] as const
export type HitTrigger = (typeof HIT_TRIGGERS)[number]

/** The visitor of a hit from a tool that tells no visitors apart. */
export const NO_VISITOR = '0'

export interface Hit {
  /** Unique within a node: the position of the hit in the node's spool. At most 2^53 - 1. */
  id: number
  /** Milliseconds since the epoch. */
  at: number
  /** 0 where the slug is unknown on the shared domain: the hit belongs to no workspace. */
  workspaceId: number
  /** 0 where the slug is unknown. */
  linkId: number
  outcome: HitOutcome
  class: HitClass
  trigger: HitTrigger
  /**
   * 64-bit keyed hash of address, user agent and workspace under the day's salt, as decimal digits. An engine stores a part
   * of it with the UTC day (day-visitor.ts). `NO_VISITOR` where nobody knows: such a hit counts as a click and never as
   * a visitor.
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
  /** null unless no link answered. It shows owners what people typed. */
  unknownSlug: string | null
  /** The import that has brought the hit from another tool; null where this server has recorded it. */
  importId: number | null
  /** The label of the variant that a split has chosen; null without a split. */
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
