// Where an address is, from a MaxMind file: the bundled country database, or one that the operator names.

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import ipaddr from 'ipaddr.js'
import { type CityResponse, Reader } from 'mmdb-lib'
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
  lookup(address: string): Place
}

/** The records of MaxMind's layout, and the flat one of ip-location-db. */
interface GeoRecord {
  country_code?: string
  country?: { iso_code?: string }
  subdivisions?: { iso_code?: string; names?: { en?: string } }[]
  city?: { names?: { en?: string } }
  continent?: { code?: string }
}

const NOWHERE: Place = { country: null, region: null, city: null, continent: null }
const BUNDLED = '@ip-location-db/geo-whois-asn-country-mmdb/geo-whois-asn-country.mmdb'

/**
 * Keeps the file in memory (7.8 MB for the bundled one). A look-up takes about 1 µs.
 * @throws when the file cannot be read or is not a MaxMind database.
 */
export function openGeo(path?: string): Geo {
  const reader = new Reader<CityResponse>(readFileSync(path ?? fileURLToPath(import.meta.resolve(BUNDLED))))
  return {
    lookup(address) {
      if (!ipaddr.isValid(address)) return NOWHERE
      const plain =
        address.includes('.') && address.includes(':') ? ipaddr.process(address).toString() : address
      const record = reader.get(plain) as GeoRecord | null
      return record ? placeOf(record) : NOWHERE
    },
  }
}

function placeOf(record: GeoRecord): Place {
  const country = record.country?.iso_code ?? record.country_code ?? null
  const division = record.subdivisions?.[0]
  return {
    country,
    region: division?.iso_code ?? division?.names?.en ?? null,
    city: record.city?.names?.en ?? null,
    continent: record.continent?.code ?? (country === null ? null : (CONTINENTS.get(country) ?? null)),
  }
}
