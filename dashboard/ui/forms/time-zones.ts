// The time zones of a menu.

import { viewerZone } from '../format.ts'

/** UTC and the viewer's own zone first. */
export const listTimeZones = () => [...new Set(['UTC', viewerZone, ...Intl.supportedValuesOf('timeZone')])]
