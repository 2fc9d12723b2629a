// A click as exports, feeds and events show it: without an address, and with a visitor of one day.

import { toIso } from '../../../lib/iso-time.ts'
import { toStoredVisitor } from '../../../storage/hits/day-visitor.ts'
import { HIT_DIMENSIONS, type Hit, type HitDimension, NO_VISITOR } from '../../../storage/hits/hit.ts'
import { toSource, toTrafficChannel } from '../../../storage/sources/traffic-channel.ts'
import { type EventFacts, type LinkFacts, toLinkFacts } from '../../notify/events/channel-filter.ts'
import type { ClickResource } from './schema.ts'

/** In the order of the export. */
const SHOWN_DIMENSIONS = HIT_DIMENSIONS.filter((name) => name !== 'trigger' && name !== 'variant')
type ShownDimension = Exclude<HitDimension, 'trigger' | 'variant'>

/** @param link undefined when its row is deleted */
export function toClickRow(hit: Hit, link: { slug: string; domain: string } | undefined): ClickResource {
  // A line of a batch omits null values.
  const dimensions = {} as Record<ShownDimension, string | null>
  for (const name of SHOWN_DIMENSIONS) dimensions[name] = hit[name] ?? null
  return {
    id: hit.id,
    time: toIso(hit.at),
    linkId: hit.linkId,
    slug: link?.slug ?? null,
    domain: link?.domain ?? null,
    class: hit.class,
    trigger: hit.trigger,
    ...dimensions,
    visitor: toShownVisitor(hit),
    ...toOrigin(dimensions),
    imported: (hit.importId ?? null) !== null,
    variant: hit.variant ?? null,
  }
}

type ClickOrigin = Pick<ClickResource, 'source' | 'channel'>

/** Thousands of clicks come from the same few sources. */
const ORIGINS_MAX = 1_000
const knownOrigins = new Map<string, ClickOrigin>()

function toOrigin(click: Pick<Hit, 'referrer' | 'utmSource' | 'utmMedium'>): ClickOrigin {
  const key = JSON.stringify([click.referrer, click.utmSource, click.utmMedium])
  const known = knownOrigins.get(key)
  if (known) return known
  const origin = { source: toSource(click), channel: toTrafficChannel(click) }
  if (knownOrigins.size >= ORIGINS_MAX) knownOrigins.clear()
  knownOrigins.set(key, origin)
  return origin
}

/** The letter in front: a spreadsheet would round a number. A stored visitor stays as it is. */
function toShownVisitor({ visitor, at }: Hit): string | null {
  if (visitor === NO_VISITOR) return null
  return `v${BigInt(toStoredVisitor(visitor, at)).toString(16).padStart(16, '0')}`
}

export const toClickFacts = (click: ClickResource, link: LinkFacts | undefined): EventFacts => ({
  ...Object.fromEntries(HIT_DIMENSIONS.map((name) => [name, click[name]])),
  source: click.source,
  channel: click.channel,
  linkId: click.linkId,
  ...(link && toLinkFacts(link)),
})
