import { beforeAll, describe, expect, spyOn, test } from 'bun:test'
import fc from 'fast-check'
import { atScale } from '../../../tests/support/suite.ts'
import { log, setLogLevel } from '../../lib/log.ts'
import { createGeoLookup } from '../../storage/geo.ts'
import { createEnricher } from '../hits/batches/enricher.ts'
import { createLineBuffer } from '../hits/batches/ndjson-line.ts'
import { createRawHit, IPHONE_USER_AGENT } from '../hits/spool/raw-hit.fixture.ts'
import {
  encodeRecord,
  HEADER_BYTES,
  MAX_RECORD_BYTES,
  readSpoolRecords,
  toSegmentBytes,
} from '../hits/spool/record-format.ts'
import { createDailySalts } from '../visitors/salts.ts'
import { parseUserAgent } from '../visitors/user-agent.ts'
import { createSenderDescriber } from './sender.ts'

setLogLevel('silent')

const AT = Date.parse('2026-05-10T12:00:00Z')
const salts = createDailySalts()
salts.set([{ day: '2026-05-10', salt: '5a'.repeat(32) }])
const geo = createGeoLookup()
const describing = {
  geo,
  parseUserAgent,
  getSalt: salts.get,
  ownHosts: () => new Set(['go.example', 'localhost:3000']),
}
const describeSender = createSenderDescriber({ ...describing, geo: () => geo })
const asked = { at: AT, workspaceId: 1, address: '8.8.8.8', userAgent: IPHONE_USER_AGENT, referer: '' }

/** Writes a click to the spool and reads it back as a hit. */
function asHit(change: { address: string; userAgent: string; workspaceId: number }) {
  const segment = toSegmentBytes(new Uint8Array(HEADER_BYTES + MAX_RECORD_BYTES))
  encodeRecord(segment, HEADER_BYTES, 1, createRawHit({ at: AT, ...change }))
  const bytes = segment.bytes.subarray(HEADER_BYTES)
  const [read] = readSpoolRecords({ bytes, base: HEADER_BYTES, seq: 1, nonce: 1, last: true }).hits
  const lines = createLineBuffer(8192)
  createEnricher(describing).enrich(1, (read as NonNullable<typeof read>).raw, lines)
  return JSON.parse(Buffer.from(lines.bytes.subarray(0, lines.end)).toString())
}

// The first reading of a user agent compiles its expressions.
beforeAll(() => void asHit(asked))

test('a submission and a click of one visitor have the same visitor id', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 900 }),
    fc.constantFrom(
      IPHONE_USER_AGENT,
      '',
      '\ufeffMozilla/5.0',
      '😀'.repeat(300),
      `${'a'.repeat(511)}é`,
      'é'.repeat(256),
    ),
  )
  const address = fc.oneof(fc.ipV4(), fc.ipV6(), fc.constant(''))
  const workspaceId = fc.integer({ min: 1, max: 1e9 })
  fc.assert(
    fc.property(fc.record({ address, userAgent: text, workspaceId }), (change) => {
      expect(describeSender({ ...asked, ...change }).visitor).toBe(asHit(change).visitor)
    }),
    { numRuns: atScale({ quick: 100, full: 500, soak: 5_000 }) },
  )
})

test('device, browser, system and country have the same names as in hits', () => {
  const { device, browser, os, country } = asHit(asked)
  expect(describeSender(asked)).toMatchObject({ device, browser, os, country, region: null, city: null })
  expect([device, browser, os, country]).toEqual(['Mobile', 'Safari', 'iOS', 'US'])
})

test.each<[referer: string, pageUrl: string | null]>([
  ['', null],
  ['https://www.Shop.example/contact?name=Jo&token=secret#top', 'https://www.shop.example/contact'],
  ['http://shop.example:8080/a/b', 'http://shop.example:8080/a/b'],
  ['https://jo:secret@shop.example/x', 'https://shop.example/x'],
  ['https://shop.example', 'https://shop.example/'],
  // A page of this instance is a page with the form too.
  ['https://go.example/page?x=1', 'https://go.example/page'],
  ['android-app://com.google.android.gm/', null],
  ['about:blank', null],
  ['file:///home/jo/form.html', null],
  ['javascript:alert(1)', null],
  ['data:text/html,<form>', null],
  ['not a url', null],
  ['//shop.example/x', null],
])('the Referer %p gives the page %p, and no referrer', (referer, pageUrl) => {
  const sender = describeSender({ ...asked, referer })
  expect(sender.pageUrl).toBe(pageUrl)
  // The Referer of a form names the form's own page, and a site is no source of its own forms.
  expect(sender).not.toHaveProperty('referrer')
})

test('the campaign comes from the query of the page', () => {
  const of = (query: string) => {
    const sender = describeSender({ ...asked, referer: `https://shop.example/${query}` })
    return [sender.utmSource, sender.utmMedium, sender.utmCampaign, sender.utmTerm, sender.utmContent]
  }
  expect(
    of('?utm_source=news&x=1&utm_medium=e%2Dmail&utm_campaign=spring+sale&utm_term=t&utm_content=c'),
  ).toEqual(['news', 'e-mail', 'spring sale', 't', 'c'])
  const nothing = [null, null, null, null, null]
  expect(of('')).toEqual(nothing)
  expect(of('?utm_source=&my_utm_medium=x#utm_term=y')).toEqual(nothing)
  expect(of('?utm_source=%00%FF%ED%A0%80')[0]).toMatch(/^�+$/)
  expect(of(`?utm_source=${'x'.repeat(9000)}`)[0]).toHaveLength(256)
})

test('any header gives bounded text that the database can store', () => {
  const text = fc.string({ unit: 'binary', maxLength: 3000 })
  fc.assert(
    fc.property(text, text, text, (userAgent, referer, address) => {
      for (const each of [
        referer,
        `https://a.example/${referer}`,
        `https://a.example/?utm_source=${referer}`,
      ]) {
        const sender = describeSender({ ...asked, userAgent, referer: each, address })
        for (const value of Object.values(sender)) {
          if (value === null) continue
          expect(value.length).toBeLessThanOrEqual(2048)
          expect(value.isWellFormed() && !value.includes('\0')).toBe(true)
        }
      }
    }),
    { numRuns: 200 },
  )
})

describe('without a country database', () => {
  test('a sender has no country, and the log says so once', () => {
    const said = spyOn(log, 'error')
    let opened = 0
    const describeSender = createSenderDescriber({
      ...describing,
      geo: () => {
        opened++
        return createGeoLookup('/nowhere.mmdb')
      },
    })
    expect(describeSender(asked)).toMatchObject({ country: null, device: 'Mobile' })
    expect(describeSender(asked)).toMatchObject({ country: null, device: 'Mobile' })
    expect([opened, said.mock.calls.length]).toEqual([1, 1])
    said.mockRestore()
  })
})
