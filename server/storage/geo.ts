// Finds the place of an address in a MaxMind file: the bundled country database, or the operator's file.

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type CityResponse, Reader } from 'mmdb-lib'
import { describeError, log } from '../lib/log.ts'
import { parseIpAddress } from '../lib/parse-ip.ts'
import { CONTINENTS } from './continents.ts'
import { createRecordFinder } from './geo-tree.ts'

export interface Place {
  /** ISO 3166-1, two letters. */
  country: string | null
  /** ISO 3166-2 without the country if the database has it, else a name. */
  region: string | null
  city: string | null
  /** AF AN AS EU NA OC SA */
  continent: string | null
}

export interface GeoLookup {
  /**
   * Never throws: an address without a readable record has an empty place. Usually returns the same object for the same
   * place, so that callers can cache by the object.
   */
  findPlace(address: string): Place
}

type NamedPlace = { iso_code?: unknown; code?: unknown; names?: { en?: unknown } }

/** The records of MaxMind and DB-IP, which are nested, and those of ip-location-db and IPinfo, which are flat. */
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
/** The number of cached places: all 250 of the bundled file, the common ones of a file of cities. */
const PLACE_CACHE_SIZE = 65_536

/**
 * Opens the file. A look-up takes about 0.2 µs. The operator's file is read into memory, because overwriting a mapped file
 * would crash the process. The bundled file (7.8 MB) is mapped, because nobody writes to it; so memory has only the parts
 * that were looked up. If the file is read-only, it is read into memory too.
 * @throws when the file cannot be read or is not a MaxMind database
 */
export function createGeoLookup(path?: string): GeoLookup {
  const { find, read } = path === undefined ? openBundled() : openBytes(readFileSync(path))
  const places = new Map<number, Place>()
  let degraded = false
  return {
    findPlace(text) {
      const address = text.startsWith('::ffff:') ? unmapAddress(text) : text
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
        // A part of the file is damaged. Log it once; hits are recorded without a place.
        if (!degraded) log.error('geo_database_damaged', { path, ...describeError(error) })
        degraded = true
        return NOWHERE
      }
    },
  }
}

function openBundled() {
  const path = fileURLToPath(import.meta.resolve(BUNDLED))
  try {
    const { buffer, byteOffset, byteLength } = Bun.mmap(path)
    return openBytes(Buffer.from(buffer, byteOffset, byteLength))
  } catch {
    // Bun maps only files that the process may write. For a service, the program's files are read-only.
    return openBytes(readFileSync(path))
  }
}

function openBytes(file: Buffer) {
  const reader = new Reader<CityResponse>(file)
  const read = (address: string) => (reader.get(address) ?? {}) as GeoRecord
  return { read, find: createRecordFinder(file, reader.metadata) }
}

/** Turns an IPv4 address that is mapped into IPv6 (RFC 4291 §2.5.5.2) back into IPv4. */
const unmapAddress = (address: string) => parseIpAddress(address)?.toString() ?? address

/** @returns the problem of the operator's file in a few words; undefined if it can be used */
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
