// Hashes of a submission's editable fields, and of the analytics settings. Neither stores the time of its last change, so an
// undo compares the hashes.

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
