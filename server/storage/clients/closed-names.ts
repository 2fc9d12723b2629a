// Checks names of browsers, systems and devices against the closed lists. Names from imports and from rows of earlier
// releases pass here, so that no text of a stranger stays a name.

import { BROWSERS, DEVICES, OTHER, SYSTEMS } from './client-names.ts'

/** The names that each dimension may have. */
export const CLOSED_NAMES = {
  browser: [...BROWSERS.map(([name]) => name), OTHER],
  os: [...SYSTEMS.map(([name]) => name), OTHER],
  device: DEVICES,
} as const satisfies Record<string, readonly string[]>
export type ClosedDimension = keyof typeof CLOSED_NAMES
export const CLOSED_DIMENSIONS = Object.keys(CLOSED_NAMES) as ClosedDimension[]

const byLowerCase = Object.fromEntries(
  CLOSED_DIMENSIONS.map((dimension) => [
    dimension,
    new Map<string, string>(CLOSED_NAMES[dimension].map((name) => [name.toLowerCase(), name])),
  ]),
) as Partial<Record<ClosedDimension, ReadonlyMap<string, string>>>

/** @returns the name as the list writes it; `Other` for a name that is not in it; null for none */
export const toClosedName = (dimension: ClosedDimension, name: string | null): string | null =>
  name === null || name.trim() === ''
    ? null
    : (byLowerCase[dimension]?.get(name.trim().toLowerCase()) ?? OTHER)

export const closeNames = <T extends Record<ClosedDimension, string | null>>(client: T): T => ({
  ...client,
  browser: toClosedName('browser', client.browser),
  os: toClosedName('os', client.os),
  device: toClosedName('device', client.device),
})
