// The state of a query beside its data: placeholders while it loads, and the error when it fails.

import { ErrorState } from './error-state.tsx'
import { SkeletonRows } from './skeleton.tsx'

interface Props {
  query: { isPending: boolean; isError: boolean; error: unknown; refetch: () => unknown }
  /** Of the placeholders. */
  rows?: number
  className?: string
}

export const QueryState = ({ query, rows, className }: Props) => (
  <>
    {query.isPending && <SkeletonRows rows={rows} className={className} />}
    {query.isError && <ErrorState error={query.error} retry={() => void query.refetch()} />}
  </>
)
