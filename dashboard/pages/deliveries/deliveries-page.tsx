// The list of deliveries: every notification to a channel, with its status.

import { useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { RotateCw, Send } from 'lucide-react'
import { lazy, Suspense, useState } from 'react'
import { deliveriesQuery } from '../../api/deliveries.ts'
import { useApi, useCanEdit } from '../../shell/use-workspace.ts'
import { Button } from '../../ui/button.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { focusIfLost } from '../../ui/focus.ts'
import { formatCount } from '../../ui/format.ts'
import { Page } from '../../ui/page.tsx'
import { SkeletonRows } from '../../ui/skeleton.tsx'
import { DeliveryFilters, FIRST_FILTER } from './delivery-filters.tsx'
import { DeliveryList } from './delivery-list.tsx'

const DeliveryDrawer = lazy(() =>
  import('./delivery-drawer.tsx').then((m) => ({ default: m.DeliveryDrawer })),
)
const RetryDialog = lazy(() => import('./retry-dialog.tsx').then((m) => ({ default: m.RetryDialog })))

/** Waiting deliveries change without the user. The query stops while the page is hidden. */
const REFRESH_MS = 5000

export function DeliveriesPage() {
  const api = useApi()
  const navigate = useNavigate({ from: '/$workspaceId/deliveries' })
  const { open, ...filter } = useSearch({ from: '/$workspaceId/deliveries' })
  const deliveries = useInfiniteQuery({ ...deliveriesQuery(api, filter), refetchInterval: REFRESH_MS })
  const canEdit = useCanEdit()
  const [isRetrying, setRetrying] = useState(false)
  const rows = deliveries.data?.pages.flatMap(({ data }) => data)
  async function showMore() {
    const shown = rows?.length ?? 0
    const { data } = await deliveries.fetchNextPage()
    // The button is gone after the last page.
    const next = data?.pages.flatMap(({ data }) => data)[shown]
    focusIfLost(next ? `#delivery-${next.id}` : FIRST_FILTER)
  }
  const isFiltered = Object.values(filter).some(Boolean)
  return (
    <Page
      title="Deliveries"
      description="Every notification and its attempts. Failed attempts are retried for three days."
      actions={
        canEdit && (
          <Button icon={<RotateCw size={15} />} onClick={() => setRetrying(true)}>
            Retry failed
          </Button>
        )
      }
    >
      <DeliveryFilters />
      {deliveries.isPending && <SkeletonRows rows={8} className="h-11" />}
      {deliveries.isError && <ErrorState error={deliveries.error} retry={deliveries.refetch} />}
      {rows?.length === 0 && <NoDeliveries isFiltered={isFiltered} />}
      {rows && rows.length > 0 && (
        <>
          <p className="mb-2 text-sm text-soft">
            {formatCount(deliveries.data?.pages[0]?.total ?? 0, 'delivery', 'deliveries')}
          </p>
          <DeliveryList rows={rows} />
          {deliveries.hasNextPage && (
            <div className="mt-4 text-center">
              <Button busy={deliveries.isFetchingNextPage} onClick={showMore}>
                Show more
              </Button>
            </div>
          )}
        </>
      )}
      <Suspense>
        {open && (
          <DeliveryDrawer
            id={Number(open)}
            onClose={() => {
              void navigate({ search: (s) => ({ ...s, open: undefined }) })
              // The row may be gone: a retried delivery is no longer among the failed ones.
              focusIfLost(`#delivery-${open}`, FIRST_FILTER)
            }}
          />
        )}
        {isRetrying && <RetryDialog onClose={() => setRetrying(false)} />}
      </Suspense>
    </Page>
  )
}

function NoDeliveries({ isFiltered }: { isFiltered: boolean }) {
  const navigate = useNavigate({ from: '/$workspaceId/deliveries' })
  return (
    <EmptyState icon={<Send size={32} />} title={isFiltered ? 'No matches' : 'No deliveries yet'}>
      {isFiltered ? (
        <Button
          onClick={() => {
            void navigate({ search: {} })
            focusIfLost(FIRST_FILTER)
          }}
        >
          Clear filters
        </Button>
      ) : (
        'When a form has a channel, the notifications of its submissions appear here.'
      )}
    </EmptyState>
  )
}
