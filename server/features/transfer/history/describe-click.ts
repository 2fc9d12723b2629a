// Turns a click of a tool into the line of a hit, with the parts of live hits. It reads the country from the address and drops
// the address, so later code never gets it.

import { cutText } from '../../../lib/clean-text.ts'
import { createGenerationCache } from '../../../lib/generation-cache.ts'
import { closeNames } from '../../../storage/clients/closed-names.ts'
import { CONTINENTS } from '../../../storage/continents.ts'
import type { Place } from '../../../storage/geo.ts'
import { type HitClass, NO_VISITOR } from '../../../storage/hits/hit.ts'
import {
  appendHead,
  createHitParts,
  type HitPartNeeds,
  LINE_END,
  toClientPart,
  toDescribedPart,
  toPlacePart,
} from '../../hits/batches/hit-parts.ts'
import {
  appendBytes,
  appendNumber,
  type LineBuffer,
  toJsonPart,
  toUtf8,
} from '../../hits/batches/ndjson-line.ts'
import { cutUtmParameters } from '../../visitors/campaign.ts'
import { cutReferrer } from '../../visitors/referrer.ts'
import type { DescribedClick, SourceClick } from '../sources/source.ts'
import { toClientNames } from './client-names.ts'
import { findCountryCode } from './country-code.ts'
import { toDayVisitor } from './day-visitor.ts'

/** The characters of a user agent, as in live hits. */
const USER_AGENT_MAX = 512
const NAMED_MAX = 8192

export interface ClickPlace {
  id: number
  workspaceId: number
  linkId: number
  importId: number
}

export interface ClickDescriber {
  /** Appends the hit as a line. @returns true for a click of a person */
  describe(place: ClickPlace, click: SourceClick, lines: LineBuffer): boolean
  clearCaches(): void
}

export function createClickDescriber(needs: HitPartNeeds): ClickDescriber {
  const parts = createHitParts(needs)
  const namedClients = createGenerationCache(NAMED_MAX, (key) => {
    const [browser = null, os = null, device = null] = key.split('\n')
    return toClientPart({ bot: false, ...toClientNames({ browser, os, device }) })
  })
  const namedPlaces = createGenerationCache(NAMED_MAX, (key) => {
    const [country = '', region = '', city = ''] = key.split('\n')
    return toPlacePart(toNamedPlace(country, region, city))
  })

  function toPlace(click: SourceClick): Uint8Array {
    const found = click.address === null || click.address === '' ? null : needs.geo.findPlace(click.address)
    if (found && found.country !== null) return parts.place(click.address ?? '')
    return namedPlaces.get(`${toLine(click.country)}\n${toLine(click.region)}\n${toLine(click.city)}`)
  }

  function toClient(click: SourceClick) {
    const userAgent = click.userAgent?.trim() ?? ''
    if (userAgent !== '') return parts.client(cutText(userAgent, USER_AGENT_MAX))
    return namedClients.get(`${toLine(click.browser)}\n${toLine(click.os)}\n${toLine(click.device)}`)
  }

  function describeOther(place: ClickPlace, click: SourceClick, lines: LineBuffer): boolean {
    const client = toClient(click)
    const referrer = parts.referrer(toReferrer(click.referrer))
    const hitClass: HitClass = (click.bot ?? client.bot) ? 'bot' : referrer.spam ? 'spam' : 'human'
    const hit = { ...place, at: click.at, outcome: 'redirect' as const, trigger: click.trigger }
    appendHead(lines, place.id, hit, hitClass)
    appendBytes(lines, NOBODY)
    appendBytes(lines, toPlace(click))
    appendBytes(lines, client.part)
    appendBytes(lines, referrer.part)
    appendBytes(lines, parts.campaign(toUtmQuery(click.visitedUrl), toUtmQuery(click.destinationUrl)))
    appendEnd(lines, place)
    return hitClass === 'human'
  }

  return {
    describe: (place, click, lines) =>
      click.described
        ? describeOwn(place, click.at, click.described, lines)
        : describeOther(place, click, lines),
    clearCaches: parts.clearCaches,
  }
}

/** A hit of our own export. */
function describeOwn(place: ClickPlace, at: number, described: DescribedClick, lines: LineBuffer): boolean {
  appendHead(lines, place.id, { ...place, ...described, at }, described.class)
  appendBytes(lines, toUtf8(`${toDayVisitor(described.visitor, at)}"`))
  appendBytes(lines, toDescribedPart(closeNames(described)))
  const { unknownSlug, params } = described
  appendBytes(lines, toJsonPart({ unknownSlug, params }))
  appendEnd(lines, place)
  return described.class === 'human' && described.outcome === 'redirect'
}

function appendEnd(lines: LineBuffer, { importId }: ClickPlace): void {
  appendBytes(lines, IMPORT)
  appendNumber(lines, importId)
  appendBytes(lines, LINE_END)
}

const NOBODY = toUtf8(`${NO_VISITOR}"`)
const IMPORT = toUtf8(',"importId":')

/** Longer than any real name. A limit, because the cache has thousands of names. */
const NAME_CHARS_MAX = 512

/** Returns a part of a cache key, whose parts are joined with line feeds. */
const toLine = (text: string | null) =>
  text === null ? '' : cutText(text, NAME_CHARS_MAX).replaceAll('\n', ' ')

function toNamedPlace(country: string, region: string, city: string): Place {
  const code = findCountryCode(country)
  const isKnown = (text: string) => text !== '' && !/^(?:unknown|-)$/i.test(text)
  return {
    country: code,
    region: isKnown(region) ? region : null,
    city: isKnown(city) ? city : null,
    continent: code === null ? null : (CONTINENTS.get(code) ?? null),
  }
}

const DIRECT = /^(?:|-|null|none|unknown|\(?direct\)?|\(none\))$/i

/** Tools export a URL or only its host. */
function toReferrer(text: string | null): string {
  const referrer = text?.trim() ?? ''
  if (DIRECT.test(referrer)) return ''
  return cutReferrer(/^[a-z][a-z0-9+.-]*:\/\//i.test(referrer) ? referrer : `https://${referrer}`)
}

function toUtmQuery(url: string | null): string {
  if (url === null) return ''
  const start = url.indexOf('?')
  const end = url.indexOf('#')
  return start < 0 ? '' : cutUtmParameters(url.slice(start + 1, end < start ? undefined : end))
}
