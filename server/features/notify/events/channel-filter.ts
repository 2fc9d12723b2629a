// Filters of a channel, in the grammar of analytics: which names each event has, and whether an event passes.

import { foldCase } from '../../../lib/text.ts'
import { type FilterName, type FilterValues, readFilter } from '../../../storage/filter-grammar.ts'
import { HIT_DIMENSIONS } from '../../../storage/hits/hit.ts'
import { ORIGIN_DIMENSIONS } from '../../../storage/sources/origin-sql.ts'
import { toSource, toTrafficChannel } from '../../../storage/sources/traffic-channel.ts'
import type { ChannelEvent } from './channel-events.ts'

const LINK_NAMES = ['linkId', 'tagId', 'domain', 'slug'] as const
const CLICK_NAMES = [...LINK_NAMES, ...HIT_DIMENSIONS, ...ORIGIN_DIMENSIONS] as const
const LEAD_COLUMNS = [
  'country',
  'region',
  'city',
  'device',
  'browser',
  'os',
  'referrer',
  'utmSource',
  'utmMedium',
  'utmCampaign',
  'utmTerm',
  'utmContent',
] as const
const LEAD_NAMES = [...LINK_NAMES, ...LEAD_COLUMNS, ...ORIGIN_DIMENSIONS, 'form'] as const

/** The filters that each event has. */
export const EVENT_FILTERS: Record<ChannelEvent, readonly FilterName[]> = {
  'submission.created': LEAD_NAMES,
  'outcome.recorded': LEAD_NAMES,
  'link.created': LINK_NAMES,
  'link.updated': LINK_NAMES,
  'link.deleted': LINK_NAMES,
  'link.clicked': CLICK_NAMES,
  'link.closed': LINK_NAMES,
  'split.decided': LINK_NAMES,
}

/** The filter as it was written: `{"country": "US,BR"}`. */
export type ChannelFilter = { [name in FilterName]?: string }

/** The values of an event that filters compare. A link has several tags. */
export type EventFacts = { [name in FilterName]?: string | number | null | (string | number)[] }

export interface LinkFacts {
  id: number
  slug: string
  domain: string
  tags: { id: number }[]
}

export const toLinkFacts = ({ id, slug, domain, tags }: LinkFacts): EventFacts => ({
  linkId: id,
  slug,
  domain,
  tagId: tags.map((tag) => tag.id),
})

type Visitor = { [column in (typeof LEAD_COLUMNS)[number]]: string | null }

/** The facts of a submission, or of an outcome of it. */
export const toLeadFacts = (
  lead: Visitor & { formKey: string; linkId: number | null },
  link: LinkFacts | undefined,
): EventFacts => ({
  ...Object.fromEntries(LEAD_COLUMNS.map((name) => [name, lead[name]])),
  source: toSource(lead),
  channel: toTrafficChannel(lead),
  form: lead.formKey,
  // As in analytics, 0 stands for no link.
  linkId: lead.linkId ?? 0,
  ...(link && toLinkFacts(link)),
})

/** @returns the mistake as a sentence */
export const parseFilterField = (name: string, written: string): FilterValues | string =>
  readFilter(name as FilterName, [written])

/** @returns the mistake of a filter that an event does not have, by field */
export function findFilterMistakes(filter: ChannelFilter, events: ChannelEvent[]): Record<string, string> {
  const mistakes: Record<string, string> = {}
  for (const name of Object.keys(filter) as FilterName[]) {
    const lacking = events.find((event) => !EVENT_FILTERS[event].includes(name))
    if (lacking) mistakes[`filter.${name}`] = `${lacking} has no ${name}: leave out the filter or the event`
  }
  return mistakes
}

type ParsedFilter = [name: FilterName, filter: FilterValues][]

/** Channels are few, and their filters seldom change. */
const CACHED_MAX = 1_000
const parsed = new Map<string, ParsedFilter>()

function parseChannelFilter(stored: string): ParsedFilter {
  const known = parsed.get(stored)
  if (known) return known
  const filter = Object.entries(JSON.parse(stored) as Record<string, string>).map(([name, written]) => {
    const read = parseFilterField(name, written)
    if (typeof read === 'string') throw new Error(`A stored filter cannot be read: ${name} ${read}`)
    return [name as FilterName, read] as [FilterName, FilterValues]
  })
  if (parsed.size >= CACHED_MAX) parsed.clear()
  parsed.set(stored, filter)
  return filter
}

/** @param stored the column `filter` of a channel */
export const passesFilter = (stored: string | null, facts: EventFacts): boolean =>
  stored === null ||
  parseChannelFilter(stored).every(([name, filter]) => passesOne(name, filter, facts[name]))

/** Slugs are compared as most domains do, and names of products as analytics do. */
const FOLDED: ReadonlySet<FilterName> = new Set(['slug', 'domain', 'device', 'browser', 'os'])

function passesOne(
  name: FilterName,
  { values, negate }: FilterValues,
  fact: EventFacts[FilterName],
): boolean {
  const fold = (value: string | number | null) =>
    FOLDED.has(name) && typeof value === 'string' ? foldCase(value) : value
  const facts = Array.isArray(fact) ? fact : [fact ?? null]
  const wanted = values.map(fold)
  return facts.some((each) => wanted.includes(fold(each))) !== negate
}
