// The drawer of one delivery: its attempts, and a button for another attempt.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { RotateCw } from 'lucide-react'
import type { ReactNode } from 'react'
import { channelsQuery } from '../../api/channels.ts'
import { type DeliveryDetail, deliveryQuery, retryDelivery } from '../../api/deliveries.ts'
import { translateError } from '../../api/error-texts.ts'
import { useApi, useCanEdit } from '../../shell/use-workspace.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { Dialog } from '../../ui/overlays/dialog.tsx'
import { toast } from '../../ui/overlays/toast.tsx'
import { QueryState } from '../../ui/query-state.tsx'
import { AttemptList } from './attempt-list.tsx'
import {
  DELIVERY_STATUS,
  toAttemptsText,
  toChannelName,
  toDeliveryTitle,
  toNextAttemptText,
} from './delivery-status.ts'
import { SentRequest } from './sent-request.tsx'

const REFRESH_MS = 2000

export function DeliveryDrawer({ id, onClose }: { id: number; onClose: () => void }) {
  const api = useApi()
  const client = useQueryClient()
  const delivery = useQuery({
    ...deliveryQuery(api, id),
    refetchInterval: ({ state }) => (state.data?.status === 'waiting' ? REFRESH_MS : false),
  })
  const retry = useMutation({
    mutationFn: () => retryDelivery(api, id),
    onSuccess(changed) {
      client.setQueryData(deliveryQuery(api, id).queryKey, changed)
      toast('Delivery is being sent again')
      return client.invalidateQueries({ queryKey: [api.workspaceId, 'deliveries'] })
    },
  })
  const { data } = delivery
  const canEdit = useCanEdit()
  return (
    <Dialog
      drawer
      onClose={onClose}
      title={data ? toDeliveryTitle(data) : `Delivery ${id}`}
      description={data && <code className="break-all">{data.messageId}</code>}
      footer={
        <>
          {data?.submissionId && (
            <ButtonLink
              to="/$workspaceId/inbox"
              params={{ workspaceId: String(api.workspaceId) }}
              search={{ open: String(data.submissionId) }}
            >
              Open submission
            </ButtonLink>
          )}
          {canEdit && (
            <Button
              variant="primary"
              icon={<RotateCw size={15} />}
              disabled={!data || data.event === 'test'}
              busy={retry.isPending}
              onClick={() => retry.mutate()}
            >
              {data?.status === 'delivered' ? 'Send again' : 'Retry now'}
            </Button>
          )}
        </>
      }
    >
      <QueryState query={delivery} rows={3} />
      {data && <Report delivery={data} />}
    </Dialog>
  )
}

/** A submission in a digest shows the attempts of the digest. */
const DigestLink = ({ id }: { id: number }) => (
  <Link
    to="/$workspaceId/notifications/deliveries"
    params={{ workspaceId: String(useApi().workspaceId) }}
    search={(search) => ({ ...search, open: String(id) })}
    className="text-link"
  >
    A digest of submissions
  </Link>
)

function Report({ delivery }: { delivery: DeliveryDetail }) {
  const channels = useQuery(channelsQuery(useApi()))
  const names = new Map(channels.data?.data.map(({ id, name }) => [id, name]))
  const { label, tone } = DELIVERY_STATUS[delivery.status]
  const facts: [string, ReactNode][] = [
    [
      'Status',
      <Badge key="status" tone={tone}>
        {label}
      </Badge>,
    ],
    ['Sender', delivery.sender],
    ['Form', delivery.formName],
    [delivery.channelId === null ? 'To' : 'Channel', toChannelName(delivery, names)],
    ['Sent with', delivery.digestId !== null && <DigestLink key="digest" id={delivery.digestId} />],
    ['Attempts', toAttemptsText(delivery)],
    ['Next attempt', delivery.nextAttemptAt && toNextAttemptText(delivery.nextAttemptAt)],
    [
      'Last error',
      delivery.lastError && <span className="text-danger">{translateError(delivery.lastError)}</span>,
    ],
  ]
  return (
    <div className="grid gap-6">
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1.5">
        {facts.map(
          ([name, value]) =>
            value && (
              <div key={name} className="contents">
                <dt className="text-soft">{name}</dt>
                <dd className="break-words">{value}</dd>
              </div>
            ),
        )}
      </dl>
      <section className="grid gap-2">
        <h3 className="font-semibold">Request</h3>
        <SentRequest delivery={delivery} />
      </section>
      <section className="grid gap-2">
        <h3 className="font-semibold">Attempts and responses</h3>
        <AttemptList attempts={delivery.attempts} />
      </section>
    </div>
  )
}
