// Opens the country database for a process that enriches hits.

import { describeError, log } from '../../../lib/log.ts'
import { createGeoLookup, type GeoLookup } from '../../../storage/geo.ts'

/** Without a readable database, hits are enriched without a place. */
export function openGeoLookup(path: string | undefined): GeoLookup {
  try {
    return createGeoLookup(path)
  } catch (error) {
    log.error('geo_unavailable', { path, ...describeError(error) })
    return { findPlace: () => ({ country: null, region: null, city: null, continent: null }) }
  }
}
