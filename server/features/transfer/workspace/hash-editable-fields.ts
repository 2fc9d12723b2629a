// Hashes of a submission's editable fields, and of the analytics settings. They have no time of their last change, so an
// import compares these.

import type { AnalyticsSettings } from '../../accounts/workspaces/analytics-settings.ts'

export const hashEditableFields = ({ status, notes }: { status: string; notes: string | null }): number =>
  Bun.hash.crc32(JSON.stringify([status, notes]))

export const hashAnalyticsSettings = ({
  keptParams,
  internalNetworks,
  ignoredReferrers,
  watchDestinations,
}: AnalyticsSettings): number =>
  Bun.hash.crc32(JSON.stringify([keptParams, internalNetworks, ignoredReferrers, watchDestinations]))
