import { describe, expect, test } from 'bun:test'
import { openGeo } from './geo.ts'

describe('the bundled database', () => {
  const geo = openGeo()
  const cases: [string, string | null, string | null][] = [
    ['8.8.8.8', 'US', 'NA'],
    ['::ffff:8.8.8.8', 'US', 'NA'],
    ['2001:4860:4860::8888', 'US', 'NA'],
    ['200.160.2.3', 'BR', 'SA'],
    ['127.0.0.1', null, null],
    ['::1', null, null],
    ['10.0.0.1', null, null],
    ['nonsense', null, null],
    ['', null, null],
    ['999.1.1.1', null, null],
  ]
  for (const [address, country, continent] of cases)
    test(`puts "${address}" in ${country}`, () =>
      expect(geo.lookup(address)).toEqual({ country, region: null, city: null, continent }))
})

test('a database that cannot be read is an error that names it', () => {
  expect(() => openGeo('/nowhere/geo.mmdb')).toThrow('/nowhere/geo.mmdb')
})
