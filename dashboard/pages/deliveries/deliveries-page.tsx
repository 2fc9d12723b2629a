// The list of deliveries: every notification to a channel, with its status.

import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { RotateCw, Send } from 'lucide-react'
import { lazy, Suspense, useState } from 'react'
import { channelsQuery } from '../../api/channels.ts'
import { type DeliveryResource, deliveriesQuery } from '../../api/deliveries.ts'
import { useApi, useCanEdit } from '../../shell/use-workspace.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { formatCount, formatExactly } from '../../ui/format.ts'
import { Field, Select } from '../../ui/forms/field.tsx'
import { Page } from '../../ui/page.tsx'
import { RelativeTime } from '../../ui/relative-time.tsx'
import { SkeletonRows } from '../../ui/skeleton.tsx'
import { ChannelSelect } from './channel-select.tsx'

const DeliveryDrawer = lazy(() =>
  import('./delivery-drawer.tsx').then((m) => ({ default: m.DeliveryDrawer })),
)
const RetryDialog = lazy(() => import('./retry-dialog.tsx').then((m) => ({ default: m.RetryDialog })))

const STATUS = {
  waiting: { label: 'Waiting', tone: 'warn' },
  delivered: { label: 'Delivered', tone: 'good' },
  failed: { label: 'Failed', tone: 'bad' },
} as const

const EVENTS: Record<DeliveryResource['event'], string> = {
  'submission.created': 'Submission',
  test: 'Test',
  'channel.disabled': 'Channel turned off',
}

/** Waiting deliveries change without the user. */
const REFRESH_MS = 5000

export function DeliveriesPage() {
  const api = useApi()
  const navigate = useNavigate({ from: '/$workspaceId/deliveries' })
  const { open, ...filter } = useSearch({ from: '/$workspaceId/deliveries' })
  const deliveries = useInfiniteQuery({ ...deliveriesQuery(api, filter), refetchInterval: REFRESH_MS })
  const canEdit = useCanEdit()
  const [isRetrying, setRetrying] = useState(false)
  const rows = deliveries.data?.pages.flatMap(({ data }) => data)
  const isFiltered = Object.values(filter).some(Boolean)
  return (
    <Page
      title="Deliveries"
      description="Every notification and its attempts. Failed attempts are repeated for three days."
      actions={
        canEdit && (
          <Button icon={<RotateCw size={15} />} onClick={() => setRetrying(true)}>
            Retry failed
          </Button>
        )
      }
    >
      <Filters />
      {deliveries.isPending && <SkeletonRows rows={8} className="h-11" />}
      {deliveries.isError && <ErrorState error={deliveries.error} retry={deliveries.refetch} />}
      {rows?.length === 0 && (
        <EmptyState icon={<Send size={32} />} title={isFiltered ? 'No matches' : 'No deliveries yet'}>
          {isFiltered ? (
            <Button onClick={() => navigate({ search: {} })}>Clear filters</Button>
          ) : (
            'When a form has a channel, the notifications of its submissions appear here.'
          )}
        </EmptyState>
      )}
      {rows && rows.length > 0 && (
        <>
          <p className="mb-2 text-sm text-soft">
            {formatCount(deliveries.data?.pages[0]?.total ?? 0, 'delivery', 'deliveries')}
          </p>
          <DeliveryTable rows={rows} />
          {deliveries.hasNextPage && (
            <div className="mt-4 text-center">
              <Button busy={deliveries.isFetchingNextPage} onClick={() => deliveries.fetchNextPage()}>
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
            onClose={() => navigate({ search: (s) => ({ ...s, open: undefined }) })}
          />
        )}
        {isRetrying && <RetryDialog onClose={() => setRetrying(false)} />}
      </Suspense>
    </Page>
  )
}

function Filters() {
  const navigate = useNavigate({ from: '/$workspaceId/deliveries' })
  const search = useSearch({ from: '/$workspaceId/deliveries' })
  const set = (name: 'status' | 'channelId') => (event: { target: { value: string } }) =>
    navigate({ search: (s) => ({ ...s, [name]: event.target.value || undefined }), replace: true })
  return (
    <div className="mb-4 flex flex-wrap gap-2">
      <Field label="Status" hideLabel className="w-40">
        {(control) => (
          <Select {...control} value={search.status ?? ''} onChange={set('status')}>
            <option value="">All statuses</option>
            {Object.entries(STATUS).map(([status, { label }]) => (
              <option key={status} value={status}>
                {label}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <Field label="Channel" hideLabel className="w-52">
        {(control) => (
          <ChannelSelect {...control} value={search.channelId ?? ''} onChange={set('channelId')} />
        )}
      </Field>
      {search.submissionId && (
        <Button
          onClick={() => navigate({ search: (s) => ({ ...s, submissionId: undefined }), replace: true })}
        >
          Submission {search.submissionId} ×
        </Button>
      )}
    </div>
  )
}

function DeliveryTable({ rows }: { rows: DeliveryResource[] }) {
  const api = useApi()
  const channels = useQuery(channelsQuery(api))
  const toChannelName = (id: number) =>
    channels.data?.data.find((channel) => channel.id === id)?.name ?? `Channel ${id}`
  return (
    <div className="overflow-x-auto rounded-2xl border border-line bg-card">
      <table className="w-full text-left">
        <thead className="border-b border-line text-sm text-soft">
          <tr>
            {['Status', 'Event', 'Channel', 'Attempts', 'Created'].map((name) => (
              <th
                key={name}
                className="px-4 py-2 font-medium whitespace-nowrap first:pl-5 max-sm:nth-3:hidden max-sm:nth-4:hidden"
              >
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="divide-y divide-line">
          {rows.map((row) => (
            <tr key={row.id} className="relative hover:bg-hover">
              <td className="py-2.5 pr-4 pl-5">
                <Badge tone={STATUS[row.status].tone}>{STATUS[row.status].label}</Badge>
              </td>
              <td className="px-4 py-2.5">
                <Link
                  to="/$workspaceId/deliveries"
                  params={{ workspaceId: String(api.workspaceId) }}
                  search={(s) => ({ ...s, open: String(row.id) })}
                  className="whitespace-nowrap after:absolute after:inset-0"
                >
                  {EVENTS[row.event]} {row.submissionId}
                </Link>
                <span className="block max-w-32 truncate text-sm text-soft sm:hidden">
                  {toChannelName(row.channelId)}
                </span>
              </td>
              <td className="max-w-48 truncate px-4 py-2.5 max-sm:hidden">{toChannelName(row.channelId)}</td>
              <td className="px-4 py-2.5 tabular-nums max-sm:hidden">{row.attemptCount}</td>
              <td className="px-4 py-2.5 text-soft sm:whitespace-nowrap">
                <RelativeTime at={row.createdAt} />
                {row.nextAttemptAt && (
                  <span className="block text-sm" title={formatExactly(row.nextAttemptAt)}>
                    Next attempt <RelativeTime at={row.nextAttemptAt} />
                  </span>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
