// Opens the country database for a process that describes hits.

import { describeError, log } from '../../../lib/log.ts'
import { createGeoLookup, type GeoLookup } from '../../../storage/geo.ts'

/** Without a readable database, hits are described all the same, with no place. */
export function openGeoLookup(path: string | undefined): GeoLookup {
  try {
    return createGeoLookup(path)
  } catch (error) {
    log.error('geo_unavailable', { path, ...describeError(error) })
    return { findPlace: () => ({ country: null, region: null, city: null, continent: null }) }
  }
}
