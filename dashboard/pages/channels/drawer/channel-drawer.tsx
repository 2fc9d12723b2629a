// The drawer that creates and edits a channel. Stored secrets are not shown: an empty field keeps the current value.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { createChannel, updateChannel } from '../../../api/channels/change-channel.ts'
import type { ChannelResource, ChannelType, NewChannelResource } from '../../../api/channels.ts'
import { signInOptionsQuery } from '../../../api/session.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { classNames } from '../../../ui/class-names.ts'
import { FormDialog } from '../../../ui/forms/form-dialog.tsx'
import { toast } from '../../../ui/overlays/toast.tsx'
import { CHANNEL_KINDS, type ChannelKind, getChannelKind } from '../channel-kinds.tsx'
import { ChannelNotice } from '../channel-notice.tsx'
import { describeUse } from '../describe-use.ts'
import { MailNotice } from '../mail-notice.tsx'
import { RecipientNotice } from '../recipient-notice.tsx'
import { WebhookSecretDialog } from '../webhook-secret-dialog.tsx'
import { ChannelFields } from './channel-fields.tsx'
import { type ChannelFormValues, toChannelBody, toFormValues } from './channel-values.ts'

interface DrawerProps {
  channel?: ChannelResource
  /** @param saved the id of the channel that was made or changed */
  onClose: (saved?: number) => void
}

interface SaveNeeds extends DrawerProps {
  type: ChannelType
  kind: ChannelKind
  values: ChannelFormValues
  onCreatedSecret: (created: NewChannelResource) => void
}

function useSave({ channel, type, kind, values, onCreatedSecret, onClose }: SaveNeeds) {
  const api = useApi()
  const client = useQueryClient()
  return useMutation({
    mutationFn: (): Promise<ChannelResource | NewChannelResource> =>
      channel
        ? updateChannel(api, channel.id, toChannelBody(kind, values, true))
        : createChannel(api, { type, ...toChannelBody(kind, values, false) }),
    // Waits for the list, so that the focus can go to the channel's row.
    async onSuccess(saved) {
      await client.invalidateQueries({ queryKey: [api.workspaceId, 'channels'] })
      if ('secret' in saved && saved.secret) return onCreatedSecret(saved)
      void client.invalidateQueries({ queryKey: [api.workspaceId, 'forms'] })
      toast(`Channel ${channel ? 'saved' : 'created'}. ${describeUse(saved)}.`)
      onClose(saved.id)
    },
    onError() {},
  })
}

export function ChannelDrawer({ channel, onClose }: DrawerProps) {
  const { data: server } = useQuery(signInOptionsQuery)
  const hasMail = server?.mail !== false
  const [chosen, setType] = useState<ChannelType>()
  const type = channel?.type ?? chosen ?? (hasMail ? 'email' : 'slack')
  const [values, setValues] = useState(() => toFormValues(channel))
  const [created, setCreated] = useState<NewChannelResource>()
  const kind = getChannelKind(type)
  const save = useSave({ channel, type, kind, values, onCreatedSecret: setCreated, onClose })
  if (created?.secret)
    return <WebhookSecretDialog secret={created.secret} onClose={() => onClose(created.id)} />
  const cannotCreate = !channel && type === 'email' && !hasMail
  return (
    <FormDialog
      drawer
      onClose={() => onClose()}
      title={channel ? `Edit ${channel.name}` : 'New channel'}
      action={channel ? 'Save' : 'Create channel'}
      busy={save.isPending}
      disabled={cannotCreate}
      className="grid gap-5"
      onSubmit={() => save.mutate()}
    >
      {channel && <ChannelNotice channel={channel} />}
      {!channel && (
        <KindChoice
          type={type}
          hasMail={hasMail}
          onChange={(next) => {
            // An error belongs to the type that was chosen.
            save.reset()
            setType(next)
          }}
        />
      )}
      {cannotCreate ? (
        <MailNotice />
      ) : (
        <ChannelFields
          kind={kind}
          editing={channel}
          values={values}
          error={save.error}
          onChange={setValues}
        />
      )}
      {channel && <RecipientNotice channel={channel} />}
    </FormDialog>
  )
}

interface KindChoiceProps {
  type: ChannelType
  hasMail: boolean
  onChange: (type: ChannelType) => void
}

/** The choice of a new channel's type. */
function KindChoice({ type, hasMail, onChange }: KindChoiceProps) {
  return (
    <fieldset>
      <legend className="mb-1.5 text-sm font-medium">Type</legend>
      <div className="grid grid-cols-2 gap-2 sm:grid-cols-3">
        {CHANNEL_KINDS.map((kind) => (
          <label
            key={kind.type}
            className={classNames(
              'flex items-center gap-2 rounded-lg border px-3 py-2 has-focus-visible:outline-2 has-focus-visible:outline-accent',
              kind.type === type ? 'border-accent bg-tint' : 'border-line hover:bg-hover',
            )}
          >
            <input
              type="radio"
              name="kind"
              className="sr-only"
              checked={kind.type === type}
              onChange={() => onChange(kind.type)}
            />
            <kind.icon size={16} aria-hidden className="shrink-0 text-soft" />
            <span className="min-w-0">
              <span className="block truncate">{kind.label}</span>
              {kind.others && <span className="block text-xs text-soft">{kind.others}</span>}
              {kind.type === 'email' && !hasMail && (
                <span className="block text-xs text-warn">Not set up on this server</span>
              )}
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  )
}
