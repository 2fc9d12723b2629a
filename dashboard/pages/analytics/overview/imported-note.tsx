// The number of imported clicks, as a note: they explain why there are fewer visitors than one expects.

import { useQuery } from '@tanstack/react-query'
import { totalQuery } from '../../../api/analytics.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { formatNumber } from '../../../ui/format.ts'
import type { AnalyticsView } from '../view/use-analytics-view.ts'

/** Imports are rare. */
const STALE_MS = 60_000

export function ImportedNote({ view }: { view: AnalyticsView }) {
  const { data } = useQuery({
    ...totalQuery(useApi(), 'clicks', { ...view.clicks, imported: 'true' }),
    enabled: view.clicks !== null,
    staleTime: STALE_MS,
  })
  if (!data || data.count === 0) return null
  return (
    <p className="mt-3 text-sm text-soft">
      {data.count === 1
        ? '1 of these clicks is imported.'
        : `${formatNumber(data.count)} of these clicks are imported.`}
      {data.visitors === 0 && ' Imported clicks have no visitors.'}
    </p>
  )
}
