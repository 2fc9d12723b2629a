// What a hit is once it is described: one row of the engine, one line of a batch file. It holds no address.
// Every text must be well-formed Unicode: engines refuse a lone surrogate (`text.slice` can make one), and with it the batch.

/**
 * What the redirect answered. Only `redirect` is a click; the others are kept because an owner wants to know. And what
 * the snippet saw: `landing` is the first page of a visit, `view` each later one.
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

/** Who asked: a person, a robot by its user agent, a browser fetching ahead, or a HEAD request. */
export const HIT_CLASSES = ['human', 'bot', 'prefetch', 'head'] as const
export type HitClass = (typeof HIT_CLASSES)[number]

export const HIT_TRIGGERS = ['link', 'qr'] as const
export type HitTrigger = (typeof HIT_TRIGGERS)[number]

export interface Hit {
  /** Unique within a node: the place of the hit in that node's spool. At most 2^53 - 1. */
  id: number
  /** Milliseconds since the epoch. */
  at: number
  /** 0 where the slug is unknown on the shared domain: nobody's hit. */
  workspaceId: number
  /** 0 where the slug is unknown. */
  linkId: number
  outcome: HitOutcome
  class: HitClass
  trigger: HitTrigger
  /** 64-bit keyed hash of address, user agent and workspace under the day's salt, as decimal digits. */
  visitor: string
  country: string | null
  region: string | null
  city: string | null
  continent: string | null
  device: string | null
  browser: string | null
  os: string | null
  /** Host without `www.`; null when the visitor came directly. */
  referrer: string | null
  /** The referring URL without query and fragment. */
  referrerUrl: string | null
  utmSource: string | null
  utmMedium: string | null
  utmCampaign: string | null
  utmTerm: string | null
  utmContent: string | null
  /** Kept only where no link answered, so that owners see what people typed. */
  unknownSlug: string | null
}

/** Dimensions that are columns of a hit. (`tag`, `domain` and `slug` are properties of a link and come from the rows.) */
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
] as const
export type HitDimension = (typeof HIT_DIMENSIONS)[number]
