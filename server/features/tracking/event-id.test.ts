import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createEventIds, EVENT_ID_MAX, EVENT_ID_VALID_MS } from './event-id.ts'
import { TOUCH_KINDS, type Touch } from './touch.ts'
import type { Visit } from './visit.ts'

const ids = createEventIds('s'.repeat(32))
const NOW = Date.parse('2026-05-10T12:00:00Z')

const touch = (change: Partial<Touch> = {}): Touch => ({
  at: NOW,
  kind: 'campaign',
  linkId: null,
  clickId: null,
  referrer: 'news.example',
  landingUrl: 'https://shop.example/spring',
  utmSource: 'news',
  utmMedium: null,
  utmCampaign: 'spring',
  utmTerm: null,
  utmContent: null,
  ...change,
})
const visit = (change: Partial<Visit> = {}): Visit => {
  const first = touch()
  return {
    workspaceId: 12,
    id: '1k2j3.0123456789abcdef',
    startedAt: NOW,
    seenAt: NOW,
    views: 1,
    pageUrl: 'https://shop.example/spring',
    first,
    last: first,
    ...change,
  }
}
const open = (text: string, at = NOW, workspaceId = 12) => ids.open(text, { workspaceId, at })

// Neither a NUL nor half a character: what is told by a page is cleaned before it gets here.
const text = fc.oneof(
  fc.constant(null),
  fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 2000 })
    .map((one) => one.replaceAll('\0', '') || 'x'),
  fc.constantFrom('😀'.repeat(500), '\u0001'.repeat(2000), '"'.repeat(255), 'é'.repeat(255)),
)
const anyTouch: fc.Arbitrary<Touch> = fc.record({
  at: fc.integer({ min: 0, max: 2 ** 45 }),
  kind: fc.constantFrom(...TOUCH_KINDS),
  linkId: fc.option(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER })),
  clickId: fc.option(fc.constant(`${'z'.repeat(11)}.${'z'.repeat(11)}.${'f'.repeat(16)}.${'A'.repeat(10)}`)),
  referrer: text,
  landingUrl: text,
  utmSource: text,
  utmMedium: text,
  utmCampaign: text,
  utmTerm: text,
  utmContent: text,
})
const anyVisit: fc.Arbitrary<Visit> = fc
  .tuple(anyTouch, fc.option(anyTouch), text, fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }))
  .map(([first, last, pageUrl, workspaceId]) => visit({ first, last: last ?? first, pageUrl, workspaceId }))

/** Each text of the one is the beginning of the other's. */
function expectShortened(kept: Touch, whole: Touch) {
  for (const [name, value] of Object.entries(whole)) {
    const short = kept[name as keyof Touch]
    const begins = typeof value === 'string' && value.replace(/^\ufeff+/, '').startsWith(String(short ?? ''))
    if (typeof value === 'string') expect([name, begins]).toEqual([name, true])
    else expect([name, short]).toEqual([name, value])
  }
}

describe('an event id', () => {
  test('opens to the same visit', () => {
    const last = touch({ kind: 'click', linkId: 7, clickId: '1.7.0123456789abcdef.abcdefghij' })
    for (const one of [visit(), visit({ last, views: 3, pageUrl: null })]) {
      expect(open(ids.seal(one))).toEqual(one)
    }
    const opened = open(ids.seal(visit()))
    expect(opened?.last).toBe(opened?.first as Touch)
  })

  test('is unreadable, and different each time', () => {
    const [one, other] = [ids.seal(visit()), ids.seal(visit())]
    expect(one).not.toBe(other)
    for (const id of [one, other]) {
      const bytes = Buffer.from(id, 'base64url').toString('latin1')
      expect(/shop|news|spring|k2j3/.test(bytes)).toBe(false)
    }
    const beginnings = Array.from({ length: 1000 }, () => ids.seal(visit()).slice(0, 16))
    expect(new Set(beginnings).size).toBe(1000)
  })

  test('is never too long: texts that do not fit are cut', () => {
    fc.assert(
      fc.property(anyVisit, (whole) => {
        const id = ids.seal(whole)
        expect(id).toMatch(/^[\w-]+$/)
        expect(id.length).toBeLessThanOrEqual(EVENT_ID_MAX)
        const kept = open(id, NOW, whole.workspaceId) as Visit
        expectShortened(kept.first, whole.first)
        expectShortened(kept.last, whole.last)
        const { first, last, pageUrl, ...rest } = whole
        expect(kept).toMatchObject(rest)
      }),
      { numRuns: 300 },
    )
  })

  test('of a typical visit has a quarter of the maximum length', () => {
    const last = touch({ kind: 'click', linkId: 70_000, clickId: '1k2j3.1i0g.0123456789abcdef.abcdefghij' })
    expect(ids.seal(visit({ last })).length).toBeLessThan(700)
  })

  test('is refused when any character is changed', () => {
    const id = ids.seal(visit())
    for (let i = 0; i < id.length; i++) {
      for (const other of 'A_9') {
        const forged = id.slice(0, i) + other + id.slice(i + 1)
        if (forged !== id) expect([i, other, open(forged)]).toEqual([i, other, undefined])
      }
    }
  })

  test('is refused when cut, extended, or combined from two', () => {
    const [id, other] = [ids.seal(visit()), ids.seal(visit({ workspaceId: 13 }))]
    for (let end = 0; end < id.length; end++) expect([end, open(id.slice(0, end))]).toEqual([end, undefined])
    for (const forged of [
      `${id}A`,
      `${id}AAAA`,
      `${id}=`,
      `${id}\n`,
      ` ${id}`,
      `${id.slice(0, 16)}${other.slice(16)}`,
      `${other.slice(0, -24)}${id.slice(-24)}`,
      id.repeat(20),
    ]) {
      expect([forged.slice(-40), open(forged)]).toEqual([forged.slice(-40), undefined])
    }
  })

  test('that is made up is refused and never throws', () => {
    const alphabet = [...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_']
    const made = fc.string({ unit: fc.constantFrom(...alphabet), maxLength: 600 })
    fc.assert(fc.property(fc.oneof(fc.string({ unit: 'binary' }), made), (one) => open(one) === undefined))
  })

  test('is valid for its workspace only', () => {
    const id = ids.seal(visit())
    expect(open(id, NOW, 12)).toBeDefined()
    expect(open(id, NOW, 13)).toBeUndefined()
  })

  test('is refused under another secret', () => {
    expect(
      createEventIds('t'.repeat(32)).open(ids.seal(visit()), { workspaceId: 12, at: NOW }),
    ).toBeUndefined()
    expect(createEventIds('s'.repeat(32)).open(ids.seal(visit()), { workspaceId: 12, at: NOW })).toBeDefined()
  })

  test('of an earlier release opens', () => {
    const id =
      'IW_ypgNLaa4AAAAAbVKXu139ZCH-UwUInJkkDTzj24O487o9_NFt0t8QrGMb6EWPyLK9E5ox40mR0e6jkqVprnwQSZNXoPVSgBmxPrmCXcUj4L2sImlxH9YXwqzjWs-uQ11y44aFF5Y_nxdrhvrD198Vfu7Ra-QwNBkWlOyiy9Zc'
    expect(open(id, 1000)).toMatchObject({
      id: '1.a',
      seenAt: 1000,
      first: { landingUrl: 'https://a.example/' },
    })
  })

  test('is valid for a day, and not before its time', () => {
    const id = ids.seal(visit())
    const minute = 60_000
    expect(
      [EVENT_ID_VALID_MS - 1, EVENT_ID_VALID_MS, -4 * minute, -6 * minute].map(
        (age) => open(id, NOW + age) !== undefined,
      ),
    ).toEqual([true, false, true, false])
  })
})
