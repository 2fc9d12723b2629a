// One channel in the list, with its test button and its menu.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { Ellipsis, KeyRound, Pencil, Power, Send, Trash2 } from 'lucide-react'
import { useState } from 'react'
import {
  type ChannelResource,
  deleteChannel,
  rotateSecret,
  testChannel,
  updateChannel,
} from '../../api/channels.ts'
import type { DeliveryDetail } from '../../api/deliveries.ts'
import { useApi, useCanEdit } from '../../shell/use-workspace.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button, IconButton } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/overlays/confirm-dialog.tsx'
import { Menu, MenuItem, MenuSeparator } from '../../ui/overlays/menu.tsx'
import { toast } from '../../ui/overlays/toast.tsx'
import { useUndoableDelete } from '../../ui/overlays/use-undoable-delete.ts'
import { RelativeTime } from '../../ui/relative-time.tsx'
import { getChannelKind } from './channel-kinds.tsx'
import { RecipientNotice } from './recipient-notice.tsx'
import { TestResult } from './test-result.tsx'
import { WebhookSecretDialog } from './webhook-secret-dialog.tsx'

const toTargetText = ({ to, url, chatId }: ChannelResource) =>
  to.length > 0 ? to.join(', ') : (url ?? chatId ?? '')

export function ChannelListItem({ channel }: { channel: ChannelResource }) {
  const api = useApi()
  const [result, setResult] = useState<DeliveryDetail>()
  const test = useMutation({ mutationFn: () => testChannel(api, channel.id), onSuccess: setResult })
  const kind = getChannelKind(channel.type)
  const canEdit = useCanEdit()
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 py-3 sm:px-5">
      <kind.icon size={20} className="shrink-0 text-soft" aria-label={kind.label} />
      <div className="min-w-0 flex-1 basis-48">
        <div className="flex items-center gap-2">
          <span className="truncate font-medium">{channel.name}</span>
          {!channel.enabled && <Badge tone={channel.disabledReason ? 'bad' : 'neutral'}>Off</Badge>}
        </div>
        <p className="truncate text-sm text-soft">{toTargetText(channel)}</p>
        <RecipientNotice channel={channel} />
        {channel.disabledReason && (
          <p className="mt-1 text-sm text-danger">
            Turned off: {channel.disabledReason} Waiting deliveries are kept, and sent after you turn it on
            again.
          </p>
        )}
      </div>
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

function ChannelMenu({ channel }: { channel: ChannelResource }) {
  const api = useApi()
  const client = useQueryClient()
  const navigate = useNavigate({ from: '/$workspaceId/channels' })
  const deleteUndoably = useUndoableDelete()
  const [isRotating, setRotating] = useState(false)
  const invalidates = [[api.workspaceId, 'channels']]
  const toggle = useMutation({
    mutationFn: (enabled: boolean) => updateChannel(api, channel.id, { enabled }),
    onSuccess({ name, enabled }) {
      toast(`${name} is ${enabled ? 'on' : 'off'}`)
      return client.invalidateQueries({ queryKey: invalidates[0] })
    },
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
              to="/$workspaceId/deliveries"
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
        <MenuItem
          danger
          icon={<Trash2 size={15} />}
          onSelect={() =>
            deleteUndoably({
              key: `channel ${channel.id}`,
              message: `${channel.name} deleted`,
              remove: () => deleteChannel(api, channel.id),
              invalidates,
            })
          }
        >
          Delete
        </MenuItem>
      </Menu>
      <SecretRotation channel={channel} open={isRotating} onClose={() => setRotating(false)} />
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
          You get a new secret.For 24 hours, requests are signed with both secrets, so that you can update
          your service. After that, the old secret stops working.
        </p>
      </ConfirmDialog>
      {secret && <WebhookSecretDialog secret={secret} onClose={() => setSecret(undefined)} />}
    </>
  )
}
