// One channel in the list, with its test button and its menu.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { Ellipsis, KeyRound, Pencil, Power, Send, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { deleteChannel, rotateSecret, testChannel, updateChannel } from '../../api/channels/change-channel.ts'
import type { ChannelResource } from '../../api/channels.ts'
import type { DeliveryDetail } from '../../api/deliveries.ts'
import { useApi, useCanEdit } from '../../shell/use-workspace.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button, IconButton } from '../../ui/button.tsx'
import { classNames } from '../../ui/class-names.ts'
import { focusIfLost } from '../../ui/focus.ts'
import { formatCount } from '../../ui/format.ts'
import { ConfirmDialog } from '../../ui/overlays/confirm-dialog.tsx'
import { Dialog } from '../../ui/overlays/dialog.tsx'
import { Menu, MenuItem, MenuSeparator } from '../../ui/overlays/menu.tsx'
import { toast, toastError } from '../../ui/overlays/toast.tsx'
import { useUndoableDelete } from '../../ui/overlays/use-undoable-delete.ts'
import { RelativeTime } from '../../ui/relative-time.tsx'
import { AttemptList } from '../deliveries/attempt-list.tsx'
import { SentRequest } from '../deliveries/sent-request.tsx'
import { findTrouble } from './channel-health.ts'
import { getChannelKind } from './channel-kinds.tsx'
import { ChannelNotice } from './channel-notice.tsx'
import { describeUse } from './describe-use.ts'
import { RecipientNotice } from './recipient-notice.tsx'
import { WebhookSecretDialog } from './webhook-secret-dialog.tsx'

const toTargetText = ({ to, url, chatId }: ChannelResource) =>
  to.length > 0 ? to.join(', ') : (url ?? chatId ?? '')

/** Where the focus goes after an action on a channel: to the last control of its row, which is its menu. */
export const toRowSelector = (id: number) => `#channel-${id} [aria-haspopup=menu]`

const isUnused = ({ allForms, forms, events }: ChannelResource) =>
  !allForms && forms === 0 && events.every((event) => event === 'submission.created')

export function ChannelListItem({ channel }: { channel: ChannelResource }) {
  const api = useApi()
  const [result, setResult] = useState<DeliveryDetail>()
  const client = useQueryClient()
  const test = useMutation({
    mutationFn: () => testChannel(api, channel.id),
    onSuccess: setResult,
    // A test says whether the channel works.
    onSettled: () => client.invalidateQueries({ queryKey: [api.workspaceId, 'channels'] }),
  })
  const kind = getChannelKind(channel.type)
  const canEdit = useCanEdit()
  return (
    <li
      id={`channel-${channel.id}`}
      className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 py-3 sm:px-5"
    >
      <kind.icon size={20} className="shrink-0 text-soft" aria-label={kind.label} />
      <div className="min-w-0 flex-1 basis-48">
        <div className="flex items-center gap-2">
          <span className="truncate font-medium">{channel.name}</span>
          <StateBadge channel={channel} />
        </div>
        <p className="truncate text-sm text-soft">{toTargetText(channel)}</p>
        <RecipientNotice channel={channel} />
        <ChannelNotice channel={channel} />
        <ChannelBacklog channel={channel} />
      </div>
      <p className={classNames('text-sm', isUnused(channel) ? 'text-warn' : 'text-soft')}>
        {describeUse(channel)}
      </p>
      <p className="text-sm text-soft">
        {channel.lastDeliveryAt ? (
          <>
            Last delivery <RelativeTime at={channel.lastDeliveryAt} />
          </>
        ) : (
          'No deliveries yet'
        )}
      </p>
      {canEdit && (
        <div className="flex items-center gap-1">
          <Button size="small" icon={<Send size={14} />} busy={test.isPending} onClick={() => test.mutate()}>
            Test
          </Button>
          <ChannelMenu channel={channel} />
        </div>
      )}
      {result && <TestResult channel={channel} delivery={result} onClose={() => setResult(undefined)} />}
    </li>
  )
}

/** The result of a channel's test. */
const TestResult = ({
  channel,
  delivery,
  onClose,
}: {
  channel: ChannelResource
  delivery: DeliveryDetail
  onClose: () => void
}) => (
  <Dialog
    onClose={onClose}
    title={delivery.status === 'delivered' ? 'Test delivered' : 'Test failed'}
    description={channel.name}
    footer={<Button onClick={onClose}>Close</Button>}
  >
    <div className="grid gap-5">
      <AttemptList attempts={delivery.attempts} />
      <section className="grid gap-2">
        <h3 className="font-semibold">Request</h3>
        <SentRequest delivery={delivery} />
      </section>
    </div>
  </Dialog>
)

/** The backlog of a channel: how many notifications wait, and whether the number grows. Hidden when empty. */
function ChannelBacklog({ channel }: { channel: ChannelResource }) {
  const { waiting, oldestWaitingAt, behindSince } = channel
  if (oldestWaitingAt === null) return null
  return (
    <p className="mt-1 text-sm text-soft">
      {formatCount(waiting, 'notification')} waiting, the oldest came <RelativeTime at={oldestWaitingAt} />.
      {behindSince !== null && (
        <span className="text-danger"> Notifications arrive faster than the receiver accepts them.</span>
      )}
    </p>
  )
}

function StateBadge({ channel }: { channel: ChannelResource }) {
  const trouble = findTrouble(channel)
  if (trouble) return <Badge tone="bad">{trouble.label}</Badge>
  return channel.enabled ? null : <Badge>Off</Badge>
}

/** Deletes the channel. The focus goes to the row that takes its place. */
function useRemove({ id, name }: ChannelResource) {
  const api = useApi()
  const deleteUndoably = useUndoableDelete()
  return () => {
    const row = document.getElementById(`channel-${id}`)
    const next = row?.nextElementSibling ?? row?.previousElementSibling
    deleteUndoably({
      key: `channel ${id}`,
      message: `${name} deleted`,
      remove: () => deleteChannel(api, id),
      invalidates: [[api.workspaceId, 'channels']],
    })
    focusIfLost(...(next ? [`#${next.id} [aria-haspopup=menu]`] : []), '[data-new-channel]')
  }
}

function ChannelMenu({ channel }: { channel: ChannelResource }) {
  const api = useApi()
  const client = useQueryClient()
  const navigate = useNavigate({ from: '/$workspaceId/notifications' })
  const remove = useRemove(channel)
  const [isRotating, setRotating] = useState(false)
  const toggle = useMutation({
    mutationFn: (enabled: boolean) => updateChannel(api, channel.id, { enabled }),
    onSuccess({ name, enabled }) {
      toast(`${name} is ${enabled ? 'on' : 'off'}`)
      return client.invalidateQueries({ queryKey: [api.workspaceId, 'channels'] })
    },
    // In its own words: the field's message begins with the word that the API has for the type.
    onError: (error) => toastError(error, `Couldn’t turn ${channel.enabled ? 'off' : 'on'} ${channel.name}`),
  })
  return (
    <>
      <Menu
        trigger={
          <IconButton label={`More for ${channel.name}`}>
            <Ellipsis size={18} />
          </IconButton>
        }
      >
        <MenuItem
          icon={<Pencil size={15} />}
          onSelect={() => void navigate({ search: { edit: String(channel.id) } })}
        >
          Edit
        </MenuItem>
        <MenuItem icon={<Power size={15} />} onSelect={() => toggle.mutate(!channel.enabled)}>
          {channel.enabled ? 'Turn off' : 'Turn on'}
        </MenuItem>
        <MenuItem
          icon={<Send size={15} />}
          render={
            <Link
              to="/$workspaceId/notifications/deliveries"
              params={{ workspaceId: String(api.workspaceId) }}
              search={{ channelId: String(channel.id) }}
            />
          }
        >
          Deliveries
        </MenuItem>
        {channel.type === 'webhook' && (
          <MenuItem icon={<KeyRound size={15} />} onSelect={() => setRotating(true)}>
            Rotate secret
          </MenuItem>
        )}
        <MenuSeparator />
        <MenuItem danger icon={<Trash2 size={15} />} onSelect={remove}>
          Delete
        </MenuItem>
      </Menu>
      <SecretRotation
        channel={channel}
        open={isRotating}
        onClose={() => {
          setRotating(false)
          focusIfLost(toRowSelector(channel.id))
        }}
      />
    </>
  )
}

function SecretRotation({
  channel,
  open,
  onClose,
}: {
  channel: ChannelResource
  open: boolean
  onClose: () => void
}) {
  const api = useApi()
  const [secret, setSecret] = useState<string>()
  return (
    <>
      <ConfirmDialog
        open={open}
        onClose={onClose}
        title="Rotate the secret?"
        action="Rotate secret"
        onConfirm={async () => setSecret((await rotateSecret(api, channel.id)).secret ?? '')}
      >
        <p>
          You get a new secret. For 24 hours, requests are signed with both secrets, so you can update your
          service. After that, the old secret stops working.
        </p>
      </ConfirmDialog>
      {secret && (
        <WebhookSecretDialog
          secret={secret}
          onClose={() => {
            setSecret(undefined)
            focusIfLost(toRowSelector(channel.id))
          }}
        />
      )}
    </>
  )
}
