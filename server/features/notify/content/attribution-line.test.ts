import { expect, test } from 'bun:test'
import { type AttributionFacts, formatAttributionLine } from './attribution-line.ts'

const nothing: AttributionFacts = {
  utmSource: null,
  utmMedium: null,
  utmCampaign: null,
  shortUrl: null,
  isPending: false,
  city: null,
  country: null,
  device: null,
  referrer: null,
}

test.each<[Partial<AttributionFacts>, string]>([
  [{}, ''],
  [
    {
      utmSource: 'newsletter',
      utmCampaign: 'spring',
      shortUrl: 'https://go.example/abc',
      city: 'Berlin',
      country: 'DE',
      device: 'iPhone',
      referrer: 'mail.example',
    },
    'newsletter / spring · go.example/abc · Berlin, DE · iPhone',
  ],
  [{ utmSource: 'google', utmMedium: 'cpc', utmCampaign: 'spring' }, 'google / cpc / spring'],
  [{ referrer: 'news.example', country: 'FR' }, 'news.example · FR'],
  [{ utmSource: '  ', city: '', device: 'Mobile' }, 'Mobile'],
  [
    { isPending: true, utmSource: 'newsletter', city: 'Berlin' },
    'newsletter · Link pending: analytics are catching up · Berlin',
  ],
  [{ utmSource: 'a\r\nb · c', city: '\u202eBerlin' }, 'a b - c · Berlin'],
])('%j reads "%s"', (facts, line) => {
  expect(formatAttributionLine({ ...nothing, ...facts })).toBe(line)
})

test('cuts a long part, so that the others stay', () => {
  const line = formatAttributionLine({ ...nothing, utmSource: 'x'.repeat(5000), city: 'Berlin' })
  expect(line).toBe(`${'x'.repeat(79)}… · Berlin`)
})
