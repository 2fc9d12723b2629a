// Event ids (`_service_eid`): a visit as a text that the page keeps. AES-256-GCM seals it, so that only this server can
// read or write one. An event id is valid for its workspace, for a day.

import { cleanText } from '../../lib/clean-text.ts'
import { createSealer, IV_BYTES, TAG_BYTES } from '../../lib/crypto/sealing.ts'
import { TOUCH_KINDS, type Touch } from './touch.ts'
import type { Visit } from './visit.ts'

export interface EventIds {
  /** @returns at most `EVENT_ID_MAX` characters, none of which needs encoding in a URL or in JSON */
  seal(visit: Visit): string
  /** @returns undefined for a text that is forged, cut, of another workspace, or older than a day */
  open(text: string, expected: { workspaceId: number; at: number }): Visit | undefined
}

export const EVENT_ID_MAX = 2048
export const EVENT_ID_VALID_MS = 24 * 60 * 60 * 1000
/** How far the clocks of two servers may differ. */
const AHEAD_MS = 5 * 60 * 1000

const PAYLOAD_MAX = (EVENT_ID_MAX / 4) * 3 - IV_BYTES - TAG_BYTES
/** The visit's texts are cut to the first bound with which they fit. Longer texts are rare: 500 holds nearly all. */
const TEXT_BOUNDS = [500, 128, 64, 32, 16, 8]
/** Changes with the order of the list in `toList`. An id of another version counts as no id. */
const VERSION = 1
const WELL_FORMED = /^[\w-]+$/

export function createEventIds(secret: string): EventIds {
  const sealer = createSealer(secret, 'towpath event id')
  return {
    seal(visit) {
      const { iv, text, tag } = sealer.seal(encodePayload(visit))
      return Buffer.concat([iv, text, tag]).toString('base64url')
    },
    open(text, { workspaceId, at }) {
      if (text.length > EVENT_ID_MAX || text.length % 4 !== 0 || !WELL_FORMED.test(text)) return undefined
      const bytes = Buffer.from(text, 'base64url')
      if (bytes.length <= IV_BYTES + TAG_BYTES) return undefined
      const body = sealer.open({
        iv: bytes.subarray(0, IV_BYTES),
        text: bytes.subarray(IV_BYTES, -TAG_BYTES),
        tag: bytes.subarray(-TAG_BYTES),
      })
      if (!body) return undefined
      const visit = readPayload(body.toString())
      const age = visit ? at - visit.seenAt : 0
      const isValid = visit?.workspaceId === workspaceId && age < EVENT_ID_VALID_MS && age > -AHEAD_MS
      return isValid ? visit : undefined
    },
  }
}

function encodePayload(visit: Visit): Buffer {
  for (const bound of TEXT_BOUNDS) {
    const text = JSON.stringify(toList(visit, bound))
    const bytes = Buffer.byteLength(text)
    // To whole groups of three bytes: else the last base64 character has unused bits, and two ids mean the same.
    const padding = (2 * (IV_BYTES + TAG_BYTES + bytes)) % 3
    if (bytes + padding <= PAYLOAD_MAX) return Buffer.from(text + ' '.repeat(padding))
  }
  throw new Error('a visit does not fit into an event id, even with its texts at their shortest')
}

function toList({ first, last, ...visit }: Visit, bound: number): unknown[] {
  const list: unknown[] = [
    VERSION,
    visit.workspaceId,
    visit.id,
    visit.startedAt,
    visit.seenAt,
    visit.views,
    cleanText(visit.pageUrl, bound),
    toTouchList(first, bound),
  ]
  if (last !== first) list.push(toTouchList(last, bound))
  return list
}

const toTouchList = (touch: Touch, bound: number) => [
  touch.at,
  TOUCH_KINDS.indexOf(touch.kind),
  touch.linkId,
  touch.clickId,
  cleanText(touch.referrer, bound),
  cleanText(touch.landingUrl, bound),
  cleanText(touch.utmSource, bound),
  cleanText(touch.utmMedium, bound),
  cleanText(touch.utmCampaign, bound),
  cleanText(touch.utmTerm, bound),
  cleanText(touch.utmContent, bound),
  // Whole or not at all: a part of an id names nothing.
  ...(touch.adClickIds !== undefined && touch.adClickIds.length <= bound ? [touch.adClickIds] : []),
]

/** The seal proves that this server wrote the payload, so only its version is checked. */
function readPayload(text: string): Visit | undefined {
  const [version, workspaceId, id, startedAt, seenAt, views, pageUrl, firstList, lastList] = JSON.parse(text)
  if (version !== VERSION) return undefined
  const first = readTouch(firstList)
  const last = lastList ? readTouch(lastList) : first
  return { workspaceId, id, startedAt, seenAt, views, pageUrl, first, last }
}

// biome-ignore lint/suspicious/noExplicitAny: the list that `toTouchList` makes
function readTouch(list: any[]): Touch {
  const [at, kind, linkId, clickId, referrer, landingUrl, ...utm] = list
  const [utmSource, utmMedium, utmCampaign, utmTerm, utmContent, adClickIds] = utm
  return {
    at,
    kind: TOUCH_KINDS[kind] ?? 'direct',
    linkId,
    clickId,
    referrer,
    landingUrl,
    utmSource,
    utmMedium,
    utmCampaign,
    utmTerm,
    utmContent,
    ...(adClickIds !== undefined && { adClickIds }),
  }
}
