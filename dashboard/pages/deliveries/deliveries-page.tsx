// The list of deliveries: every notification to a channel, with its status.

import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { RotateCw, Send } from 'lucide-react'
import { useState } from 'react'
import { channelsQuery } from '../../api/channels.ts'
import { type DeliveryResource, deliveriesQuery, failedCountQuery } from '../../api/deliveries.ts'
import { translateError } from '../../api/error-texts.ts'
import { formNamesQuery } from '../../api/forms.ts'
import { useApi, useCanEdit } from '../../shell/use-workspace.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { EmptyState, NoMatches } from '../../ui/empty-state.tsx'
import { focusIfLost, focusNext } from '../../ui/focus.ts'
import { formatCount, formatExactly } from '../../ui/format.ts'
import { Field, SelectField } from '../../ui/forms/field.tsx'
import { lazyPart } from '../../ui/lazy-part.tsx'
import { Page } from '../../ui/page.tsx'
import { QueryState } from '../../ui/query-state.tsx'
import { RelativeTime } from '../../ui/relative-time.tsx'
import { ShowMore } from '../../ui/show-more.tsx'
import { NotificationTabs } from '../channels/notification-tabs.tsx'
import { ChannelSelect } from './channel-select.tsx'
import {
  DELIVERY_STATUS,
  toAttemptsText,
  toChannelName,
  toDeliveryTitle,
  toNextAttemptText,
} from './delivery-status.ts'

const DeliveryDrawer = lazyPart(() => import('./delivery-drawer.tsx'), 'DeliveryDrawer')
const RetryDialog = lazyPart(() => import('./retry-dialog.tsx'), 'RetryDialog')

/** Waiting deliveries change without the user. The query stops while the page is hidden. */
const REFRESH_MS = 5000

export function DeliveriesPage() {
  const api = useApi()
  const navigate = useNavigate({ from: '/$workspaceId/notifications/deliveries' })
  const { open, ...filter } = useSearch({ from: '/$workspaceId/notifications/deliveries' })
  const deliveries = useInfiniteQuery({ ...deliveriesQuery(api, filter), refetchInterval: REFRESH_MS })
  const failed = useQuery({ ...failedCountQuery(api), refetchInterval: REFRESH_MS })
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
      heading="Notifications"
      description="Every notification and its attempts. Failed attempts are retried for three days."
      actions={
        canEdit &&
        Boolean(failed.data) && (
          <Button icon={<RotateCw size={15} />} onClick={() => setRetrying(true)}>
            Retry failed
          </Button>
        )
      }
    >
      <NotificationTabs current="deliveries" />
      <DeliveryFilters />
      <QueryState query={deliveries} rows={8} className="h-11" />
      {rows?.length === 0 && <NoDeliveries isFiltered={isFiltered} />}
      {rows && rows.length > 0 && (
        <>
          <p className="mb-2 text-sm text-soft">
            {formatCount(deliveries.data?.pages[0]?.total ?? 0, 'delivery', 'deliveries')}
          </p>
          <DeliveryList rows={rows} />
          <ShowMore query={{ ...deliveries, fetchNextPage: showMore }} className="mt-4 text-center" />
        </>
      )}
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
      {isRetrying && (
        <RetryDialog
          onClose={() => setRetrying(false)}
          // The button that opened the dialog goes when nothing is left to retry.
          onRetried={() => focusNext(FIRST_FILTER)}
        />
      )}
    </Page>
  )
}

/** Gets the focus when the focused element is gone. */
const FIRST_FILTER = '[data-first-filter]'

/** The filters of the deliveries: status, channel, form, and the submission that another page named. */
function DeliveryFilters() {
  const navigate = useNavigate({ from: '/$workspaceId/notifications/deliveries' })
  const search = useSearch({ from: '/$workspaceId/notifications/deliveries' })
  const forms = useQuery(formNamesQuery(useApi()))
  const set = (name: 'status' | 'channelId' | 'formKey') => (event: { target: { value: string } }) =>
    navigate({ search: (s) => ({ ...s, [name]: event.target.value || undefined }), replace: true })
  return (
    <div className="mb-4 flex flex-wrap gap-2">
      <SelectField
        label="Status"
        hideLabel
        className="min-w-32 flex-1 sm:max-w-40"
        data-first-filter
        value={search.status ?? ''}
        onChange={set('status')}
        options={Object.entries(DELIVERY_STATUS).map(([status, { label }]) => [status, label])}
      >
        <option value="">All statuses</option>
      </SelectField>
      <Field label="Channel" hideLabel className="min-w-32 flex-1 sm:max-w-52">
        {(control) => (
          <ChannelSelect {...control} value={search.channelId ?? ''} onChange={set('channelId')} />
        )}
      </Field>
      <SelectField
        label="Form"
        hideLabel
        className="min-w-32 flex-1 sm:max-w-52"
        value={search.formKey ?? ''}
        onChange={set('formKey')}
        options={forms.data?.map(({ formKey, name }) => [formKey, name])}
      >
        <option value="">All forms</option>
      </SelectField>
      {search.submissionId && (
        <Button
          onClick={() => {
            void navigate({ search: (s) => ({ ...s, submissionId: undefined }), replace: true })
            focusIfLost(FIRST_FILTER)
          }}
        >
          Submission {search.submissionId} <span aria-hidden>×</span>
          <span className="sr-only">: remove this filter</span>
        </Button>
      )}
    </div>
  )
}

function NoDeliveries({ isFiltered }: { isFiltered: boolean }) {
  const navigate = useNavigate({ from: '/$workspaceId/notifications/deliveries' })
  const clear = () => {
    void navigate({ search: {} })
    focusIfLost(FIRST_FILTER)
  }
  if (isFiltered) return <NoMatches clear={clear} />
  return (
    <EmptyState icon={Send} title="No deliveries yet">
      Notifications appear here once a form with a channel gets a submission.
    </EmptyState>
  )
}

/**
 * Deliveries in rows; on a phone each is a card. A row opens with a click anywhere, and with Enter on its title.
 */
function DeliveryList({ rows }: { rows: DeliveryResource[] }) {
  const channels = useQuery(channelsQuery(useApi()))
  const names = new Map(channels.data?.data.map(({ id, name }) => [id, name]))
  return (
    <ul
      aria-label="Deliveries"
      className="grid gap-2 sm:block sm:divide-y sm:divide-line sm:rounded-2xl sm:border sm:border-line sm:bg-card"
    >
      {rows.map((row) => (
        <DeliveryRow key={row.id} delivery={row} channelName={toChannelName(row, names)} />
      ))}
    </ul>
  )
}

function DeliveryRow({ delivery, channelName }: { delivery: DeliveryResource; channelName: string }) {
  const { workspaceId } = useApi()
  const { label, tone } = DELIVERY_STATUS[delivery.status]
  return (
    <li className="relative grid gap-x-4 gap-y-1 rounded-2xl border border-line bg-card px-4 py-3 hover:bg-hover sm:grid-cols-[6rem_minmax(0,2fr)_minmax(0,1fr)_minmax(0,10rem)] sm:rounded-none sm:border-0 sm:bg-transparent sm:px-5 sm:first:rounded-t-2xl sm:last:rounded-b-2xl">
      <div className="flex items-start justify-between gap-2">
        <Badge tone={tone}>{label}</Badge>
        <span className="text-sm text-soft sm:hidden">
          <RelativeTime at={delivery.createdAt} />
        </span>
      </div>
      <div className="min-w-0">
        <Link
          id={`delivery-${delivery.id}`}
          to="/$workspaceId/notifications/deliveries"
          params={{ workspaceId: String(workspaceId) }}
          search={(s) => ({ ...s, open: String(delivery.id) })}
          className="block truncate font-medium after:absolute after:inset-0 focus-visible:outline-none focus-visible:after:rounded-2xl focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-accent"
        >
          {toDeliveryTitle(delivery)}
        </Link>
        {delivery.formName !== null && <p className="truncate text-sm text-soft">{delivery.formName}</p>}
        {delivery.lastError !== null && (
          <p className="line-clamp-2 text-sm break-words text-danger">{translateError(delivery.lastError)}</p>
        )}
      </div>
      <div className="min-w-0 text-sm">
        <p className="truncate">
          <span className="text-soft sm:hidden">To </span>
          {channelName}
        </p>
        <p className="text-soft tabular-nums">{toAttemptsText(delivery)}</p>
      </div>
      <div className="text-sm text-soft">
        <p className="max-sm:hidden">
          <RelativeTime at={delivery.createdAt} />
        </p>
        {delivery.nextAttemptAt && (
          <p title={formatExactly(delivery.nextAttemptAt)}>
            Next attempt {toNextAttemptText(delivery.nextAttemptAt)}
          </p>
        )}
      </div>
    </li>
  )
}
