// Where an address is, from a MaxMind file: the bundled country database, or one that the operator names.

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type CityResponse, Reader } from 'mmdb-lib'
import { parseIpAddress } from '../lib/ip-network.ts'
import { describeError, log } from '../lib/log.ts'
import { CONTINENTS } from './continents.ts'
import { createRecordFinder } from './geo-tree.ts'

export interface Place {
  /** ISO 3166-1, two letters. */
  country: string | null
  /** ISO 3166-2 without the country where the database has it, else a name. */
  region: string | null
  city: string | null
  /** AF AN AS EU NA OC SA */
  continent: string | null
}

export interface GeoLookup {
  /**
   * Never throws: what the file does not say, or says in a way that cannot be read, is nowhere. Mostly the same object
   * for the same place, so that what is made of a place can be kept beside it.
   */
  findPlace(address: string): Place
}

type NamedPlace = { iso_code?: unknown; code?: unknown; names?: { en?: unknown } }

/** The records of MaxMind's layout (DB-IP's too), and the flat ones of ip-location-db and IPinfo. */
interface GeoRecord {
  country_code?: unknown
  country?: NamedPlace
  state1?: unknown
  subdivisions?: NamedPlace[]
  city?: NamedPlace | string
  continent_code?: unknown
  continent?: NamedPlace
}

const NOWHERE: Place = { country: null, region: null, city: null, continent: null }
const BUNDLED = '@ip-location-db/geo-whois-asn-country-mmdb/geo-whois-asn-country.mmdb'
/** Places that are remembered, by their records: all 250 of the bundled file, the usual ones of a file of cities. */
const PLACE_CACHE_SIZE = 65_536

/**
 * A look-up takes about 0.2 µs. A file that the operator names is kept in memory: were it mapped, and copied over, the
 * process would end. Of the bundled one (7.8 MB), which nobody writes to, memory has what was looked up.
 * @throws when the file cannot be read or is not a MaxMind database.
 */
export function createGeoLookup(path?: string): GeoLookup {
  const { find, read } = path === undefined ? openBundled() : openBytes(readFileSync(path))
  const places = new Map<number, Place>()
  let degraded = false
  return {
    findPlace(written) {
      const address = written.startsWith('::ffff:') ? unmapAddress(written) : written
      try {
        const record = find(address)
        if (record === 0) return NOWHERE
        const known = places.get(record)
        if (known) return known
        const place = toPlace(read(address))
        if (places.size >= PLACE_CACHE_SIZE) places.clear()
        places.set(record, place)
        return place
      } catch (error) {
        // A damaged part of the file: once is enough to say so, and hits go on without a place.
        if (!degraded) log.error('geo_database_damaged', { path, ...describeError(error) })
        degraded = true
        return NOWHERE
      }
    },
  }
}

function openBundled() {
  const { buffer, byteOffset, byteLength } = Bun.mmap(fileURLToPath(import.meta.resolve(BUNDLED)))
  return openBytes(Buffer.from(buffer, byteOffset, byteLength))
}

function openBytes(file: Buffer) {
  const reader = new Reader<CityResponse>(file)
  const read = (address: string) => (reader.get(address) ?? {}) as GeoRecord
  return { read, find: createRecordFinder(file, reader.metadata) }
}

const unmapAddress = (address: string) => parseIpAddress(address)?.toString() ?? address

/** What is wrong with a file that an operator named, in a few words; undefined when it can be used. */
export function findGeoProblem(path: string): string | undefined {
  try {
    openBytes(readFileSync(path)).read('8.8.8.8')
  } catch (error) {
    const { code } = error as { code?: string }
    if (code === 'ENOENT') return `there is no file ${path}`
    if (code) return `${path} cannot be read (${code})`
    return `${path} is not a MaxMind database`
  }
  return undefined
}

const toText = (value: unknown) => (typeof value === 'string' && value !== '' ? value : null)

function toPlace(record: GeoRecord): Place {
  const country = toText(record.country?.iso_code) ?? toText(record.country_code)
  const division = record.subdivisions?.[0]
  const city = typeof record.city === 'object' ? record.city.names?.en : record.city
  return {
    country,
    region: toText(division?.iso_code) ?? toText(division?.names?.en) ?? toText(record.state1),
    city: toText(city),
    continent:
      toText(record.continent?.code) ??
      toText(record.continent_code) ??
      (country === null ? null : (CONTINENTS.get(country) ?? null)),
  }
}
