// `_service_eid`: a visit as a text that the page keeps for us. Sealed with AES-256-GCM, so that only the server reads
// it and nobody else can write one; good for its workspace alone, and for a day.

import { cleanText } from '../../lib/clean-text.ts'
import { createSealer, IV_BYTES, TAG_BYTES } from '../../lib/sealing.ts'
import { TOUCH_KINDS, type Touch } from './touch.ts'
import type { Visit } from './visit.ts'

export interface EventIds {
  /** At most `EVENT_ID_MAX` characters, none of which needs encoding. */
  seal(visit: Visit): string
  /** undefined for one that is forged, cut, of another workspace, or older than a day. */
  open(text: string, of: { workspaceId: number; at: number }): Visit | undefined
}

export const EVENT_ID_MAX = 2048
export const EVENT_ID_VALID_MS = 24 * 60 * 60 * 1000
/** By as much the clocks of two servers may differ. */
const AHEAD_MS = 5 * 60 * 1000

const PAYLOAD_MAX = (EVENT_ID_MAX / 4) * 3 - IV_BYTES - TAG_BYTES
/** An address of 500 characters, or a campaign of 255, is rare; many of them in one visit are somebody's joke. */
const TEXT_BOUNDS = [500, 128, 64, 32, 16, 8]
/** Changes with the order of what is sealed: an id of another release is as good as none. */
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
      // Not ours, or no longer as we made it.
      if (!body) return undefined
      const visit = readPayload(body.toString())
      const age = visit ? at - visit.seenAt : 0
      const good = visit?.workspaceId === workspaceId && age < EVENT_ID_VALID_MS && age > -AHEAD_MS
      return good ? visit : undefined
    },
  }
}

function encodePayload(visit: Visit): Buffer {
  for (const bound of TEXT_BOUNDS) {
    const text = JSON.stringify(toList(visit, bound))
    const bytes = Buffer.byteLength(text)
    // To whole groups of three bytes, so that each character of the id counts: none can be another and mean the same.
    const padding = (2 * (IV_BYTES + TAG_BYTES + bytes)) % 3
    if (bytes + padding <= PAYLOAD_MAX) return Buffer.from(text + ' '.repeat(padding))
  }
  throw new Error('a visit with its texts at their shortest does not fit into an event id')
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
]

/** What was sealed by us is as we made it; only the release may be another. */
function readPayload(text: string): Visit | undefined {
  const [version, workspaceId, id, startedAt, seenAt, views, pageUrl, firstList, lastList] = JSON.parse(text)
  if (version !== VERSION) return undefined
  const first = readTouch(firstList)
  const last = lastList ? readTouch(lastList) : first
  return { workspaceId, id, startedAt, seenAt, views, pageUrl, first, last }
}

// biome-ignore lint/suspicious/noExplicitAny: as `toTouchList` has it
function readTouch(list: any[]): Touch {
  const [at, kind, linkId, clickId, referrer, landingUrl, ...utm] = list
  const [utmSource, utmMedium, utmCampaign, utmTerm, utmContent] = utm
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
  }
}
