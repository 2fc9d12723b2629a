// Where an address is, from a MaxMind file: the bundled country database, or one that the operator names.

import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { fileURLToPath } from 'node:url'
import ipaddr from 'ipaddr.js'
import { type CityResponse, Reader } from 'mmdb-lib'
import { describeError, log } from '../lib/log.ts'
import { CONTINENTS } from './continents.ts'

export interface Place {
  /** ISO 3166-1, two letters. */
  country: string | null
  /** ISO 3166-2 without the country where the database has it, else a name. */
  region: string | null
  city: string | null
  /** AF AN AS EU NA OC SA */
  continent: string | null
}

export interface Geo {
  /**
   * Never throws: what the file does not say, or says in a way that cannot be read, is nowhere. Mostly the same object
   * for the same place, so that what is made of a place can be kept beside it.
   */
  lookup(address: string): Place
}

type Named = { iso_code?: unknown; code?: unknown; names?: { en?: unknown } }

/** The records of MaxMind's layout (DB-IP's too), and the flat ones of ip-location-db and IPinfo. */
interface GeoRecord {
  country_code?: unknown
  country?: Named
  state1?: unknown
  subdivisions?: Named[]
  city?: Named | string
  continent_code?: unknown
  continent?: Named
}

const NOWHERE: Place = { country: null, region: null, city: null, continent: null }
const BUNDLED = '@ip-location-db/geo-whois-asn-country-mmdb/geo-whois-asn-country.mmdb'
/** Decoded records, at up to 5 kB each (a city in eight languages); the bundled file has 250 in all. */
const RECORDS = 4096

/**
 * Keeps the file in memory (7.8 MB for the bundled one). A look-up takes about 1 µs.
 * @throws when the file cannot be read or is not a MaxMind database.
 */
export function openGeo(path?: string): Geo {
  const reader = openReader(path ?? fileURLToPath(import.meta.resolve(BUNDLED)))
  const places = new WeakMap<GeoRecord, Place>()
  let troubled = false
  return {
    lookup(address) {
      if (isIP(address) === 0) return NOWHERE
      const mapped = address.includes('.') && address.includes(':')
      try {
        const record = reader.get(mapped ? ipaddr.process(address).toString() : address) as GeoRecord | null
        if (!record) return NOWHERE
        const place = places.get(record) ?? placeOf(record)
        places.set(record, place)
        return place
      } catch (error) {
        // A damaged part of the file: once is enough to say so, and hits go on without a place.
        if (!troubled) log.error('geo_database_damaged', { path, ...describeError(error) })
        troubled = true
        return NOWHERE
      }
    },
  }
}

/** What is wrong with a file that an operator named, in a few words; undefined when it can be used. */
export function geoProblem(path: string): string | undefined {
  try {
    openReader(path).get('8.8.8.8')
  } catch (error) {
    const { code } = error as { code?: string }
    if (code === 'ENOENT') return `there is no file ${path}`
    if (code) return `${path} cannot be read (${code})`
    return `${path} is not a MaxMind database`
  }
  return undefined
}

const openReader = (path: string) => new Reader<CityResponse>(readFileSync(path), { cache: recordCache() })

function recordCache() {
  const records = new Map<string | number, unknown>()
  return {
    get: (offset: string | number) => records.get(offset) as never,
    set(offset: string | number, record: unknown) {
      if (records.size >= RECORDS) records.clear()
      records.set(offset, record)
    },
  }
}

const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : null)

function placeOf(record: GeoRecord): Place {
  const country = text(record.country?.iso_code) ?? text(record.country_code)
  const division = record.subdivisions?.[0]
  const city = typeof record.city === 'object' ? record.city.names?.en : record.city
  return {
    country,
    region: text(division?.iso_code) ?? text(division?.names?.en) ?? text(record.state1),
    city: text(city),
    continent:
      text(record.continent?.code) ??
      text(record.continent_code) ??
      (country === null ? null : (CONTINENTS.get(country) ?? null)),
  }
}
