import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { Reader } from 'mmdb-lib'
import { createMaxMindFile, type MmdbOptions, type MmdbValue } from '../../tests/support/maxmind-file.ts'
import { quick } from '../../tests/support/suite.ts'
import { createGeoLookup, findGeoProblem } from './geo.ts'
import { createRecordFinder } from './geo-tree.ts'

const dir = mkdtempSync(join(tmpdir(), 'towpath-geo-'))
afterAll(() => rmSync(dir, { recursive: true }))
const file = (name: string, bytes: Buffer | string) => {
  const path = join(dir, name)
  writeFileSync(path, bytes)
  return path
}

describe('the bundled database', () => {
  const geo = createGeoLookup()
  const cases: [string, string | null, string | null][] = [
    ['8.8.8.8', 'US', 'NA'],
    ['::ffff:8.8.8.8', 'US', 'NA'],
    ['::ffff:808:808', 'US', 'NA'],
    ['2001:4860:4860::8888', 'US', 'NA'],
    ['200.160.2.3', 'BR', 'SA'],
    ['127.0.0.1', null, null],
    ['::1', null, null],
    ['fe80::1%eth0', null, null],
    ['10.0.0.1', null, null],
    ['nonsense', null, null],
    ['', null, null],
    ['999.1.1.1', null, null],
    ['8', null, null],
    ['8.8.8', null, null],
    ['08.8.8.8', null, null],
  ]
  for (const [address, country, continent] of cases)
    test(`puts "${address}" in ${country}`, () =>
      expect(geo.findPlace(address)).toEqual({ country, region: null, city: null, continent }))

  test('returns the same object for all addresses of a record, so that callers can cache by it', () => {
    expect(geo.findPlace('8.8.8.8')).toBe(geo.findPlace('8.8.4.4'))
  })
})

/** The layout of MaxMind's GeoLite2-City and DB-IP. */
const LAYERED: Record<string, MmdbValue> = {
  '203.0.113.0/25': {
    city: { geoname_id: 3_448_439, names: { en: 'São Paulo', de: 'Sao Paulo (de)' } },
    continent: { code: 'SA', names: { en: 'South America' } },
    country: { iso_code: 'BR', is_in_european_union: false, names: { en: 'Brazil' } },
    location: { latitude: -23.5475, longitude: -46.6361, time_zone: 'America/Sao_Paulo' },
    subdivisions: [
      { iso_code: 'SP', names: { en: 'São Paulo' } },
      { iso_code: 'X', names: { en: 'Second' } },
    ],
  },
  // A region without a code has its name.
  '203.0.113.128/25': {
    continent: { code: 'EU' },
    country: { iso_code: 'DE' },
    subdivisions: [{ names: { en: 'Land Berlin' } }],
  },
  '2001:db8:7::/48': { city: { names: { en: '東京' } }, country: { iso_code: 'JP' } },
  '198.51.100.7': { registered_country: { iso_code: 'US' } },
}

/** The layout of ip-location-db, with the continent codes of IPinfo. */
const FLAT: Record<string, MmdbValue> = {
  '203.0.113.0/24': {
    city: 'Porto Alegre',
    country_code: 'BR',
    latitude: '-30.0331',
    longitude: '-51.23',
    postcode: '',
    state1: 'Rio Grande do Sul',
    state2: '',
    timezone: '',
  },
  '2001:db8::/32': { city: '', country_code: 'TR', continent_code: 'AS', continent: 'Asia', state1: '' },
}

describe('region and city in a file of the operator', () => {
  const layered = createGeoLookup(file('layered.mmdb', createMaxMindFile(LAYERED, { type: 'GeoLite2-City' })))
  const flat = createGeoLookup(file('flat.mmdb', createMaxMindFile(FLAT, { type: 'city ipvAll' })))
  test.each([
    ['203.0.113.7', layered, 'BR', 'SP', 'São Paulo', 'SA'],
    ['203.0.113.200', layered, 'DE', 'Land Berlin', null, 'EU'],
    ['2001:db8:7::1', layered, 'JP', null, '東京', 'AS'],
    ['198.51.100.7', layered, null, null, null, null],
    ['198.51.100.8', layered, null, null, null, null],
    ['2001:db8:8::1', layered, null, null, null, null],
    ['203.0.113.7', flat, 'BR', 'Rio Grande do Sul', 'Porto Alegre', 'SA'],
    ['2001:db8::1', flat, 'TR', null, null, 'AS'],
    ['192.0.2.1', flat, null, null, null, null],
  ])('%s', (address, geo, country, region, city, continent) => {
    expect(geo.findPlace(address)).toEqual({ country, region, city, continent })
  })
})

describe('createRecordFinder', () => {
  const shapes: MmdbOptions[] = [
    { recordSize: 24 },
    { recordSize: 28 },
    { recordSize: 32 },
    { recordSize: 24, ipVersion: 4 },
    { recordSize: 28, ipVersion: 4 },
  ]
  const address = (version: 4 | 6) => (version === 4 ? fc.ipV4() : fc.oneof(fc.ipV4(), fc.ipV6()))

  test.each(shapes)('finds the same records as mmdb-lib in a tree of %p', (shape) => {
    const { ipVersion = 6 } = shape
    fc.assert(
      fc.property(fc.uniqueArray(address(ipVersion), { minLength: 1, maxLength: 20 }), (known) => {
        const plain = known.filter((each) => !(each.includes(':') && each.includes('.')))
        const networks = Object.fromEntries(plain.map((each) => [each, { country_code: each }]))
        const bytes = createMaxMindFile(networks, shape)
        const reader = new Reader<never>(bytes)
        const find = createRecordFinder(bytes, reader.metadata)
        for (const each of plain) expect(find(each)).toBeGreaterThan(0)
        for (const each of [
          ...plain,
          '203.0.113.1',
          '0.0.0.0',
          '255.255.255.255',
          ...(ipVersion === 6 ? ['::2', 'ffff::'] : []),
        ])
          expect(find(each) > 0).toBe(reader.get(each) !== null)
      }),
      { numRuns: 40 },
    )
  })
})

describe('findGeoProblem', () => {
  const good = createMaxMindFile(FLAT)
  test.each([
    ['is empty', '', 'is not a MaxMind database'],
    ['is text', 'hello', 'is not a MaxMind database'],
    ['is a download that broke off', good.subarray(0, good.length - 60), 'is not a MaxMind database'],
    ['is still packed', gzipSync(good), 'is not a MaxMind database'],
  ])('names the problem of a file that %s', (_, bytes, problem) => {
    const path = file('bad.mmdb', Buffer.from(bytes))
    expect(findGeoProblem(path)).toBe(`${path} ${problem}`)
    expect(() => createGeoLookup(path)).toThrow()
  })

  test('names the problem of an absent file and of a directory', () => {
    expect(findGeoProblem('/nowhere/geo.mmdb')).toBe('there is no file /nowhere/geo.mmdb')
    expect(() => createGeoLookup('/nowhere/geo.mmdb')).toThrow('/nowhere/geo.mmdb')
    expect(findGeoProblem(dir)).toBe(`${dir} cannot be read (EISDIR)`)
  })

  test('finds no problem in a good file', () =>
    expect(findGeoProblem(file('good.mmdb', good))).toBeUndefined())
})

quick('finds no place in a damaged file, and does not throw', () => {
  const bytes = createMaxMindFile(LAYERED)
  const data = bytes.indexOf('geoname_id')
  for (let at = data - 40; at < data + 200; at++) {
    const damaged = Buffer.from(bytes)
    damaged[at] = 0xff
    const geo = createGeoLookup(file('damaged.mmdb', damaged))
    for (const address of ['203.0.113.7', '203.0.113.200', '2001:db8:7::1'])
      for (const value of Object.values(geo.findPlace(address)))
        expect(value === null || typeof value === 'string').toBe(true)
  }
})
