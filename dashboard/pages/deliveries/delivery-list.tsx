// Deliveries in rows; on a phone each is a card. A row opens with a click anywhere, and with Enter on its title.

import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { channelsQuery } from '../../api/channels.ts'
import type { DeliveryResource } from '../../api/deliveries.ts'
import { useApi } from '../../shell/use-workspace.ts'
import { Badge } from '../../ui/badge.tsx'
import { formatExactly } from '../../ui/format.ts'
import { RelativeTime } from '../../ui/relative-time.tsx'
import {
  DELIVERY_STATUS,
  toAttemptsText,
  toChannelName,
  toDeliveryTitle,
  toNextAttemptText,
} from './delivery-status.ts'

export function DeliveryList({ rows }: { rows: DeliveryResource[] }) {
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
          to="/$workspaceId/deliveries"
          params={{ workspaceId: String(workspaceId) }}
          search={(s) => ({ ...s, open: String(delivery.id) })}
          className="block truncate font-medium after:absolute after:inset-0 focus-visible:outline-none focus-visible:after:rounded-2xl focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-accent"
        >
          {toDeliveryTitle(delivery)}
        </Link>
        {delivery.formName !== null && <p className="truncate text-sm text-soft">{delivery.formName}</p>}
        {delivery.lastError !== null && (
          <p className="line-clamp-2 text-sm break-words text-danger">{delivery.lastError}</p>
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
