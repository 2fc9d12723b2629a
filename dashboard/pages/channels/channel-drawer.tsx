// Making a channel, or changing one. Secrets are never shown again: an empty field keeps what is there.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useId, useState } from 'react'
import {
  type ChannelResource,
  type ChannelType,
  createChannel,
  type NewChannelResource,
  updateChannel,
} from '../../api/channels.ts'
import { ApiError } from '../../api/client.ts'
import { useApi } from '../../shell/use-workspace.ts'
import { Button } from '../../ui/button.tsx'
import { classNames } from '../../ui/class-names.ts'
import { Field, Textarea, TextField } from '../../ui/forms/field.tsx'
import { findFieldError } from '../../ui/forms/form-error.tsx'
import { Dialog } from '../../ui/overlays/dialog.tsx'
import { toast } from '../../ui/overlays/toast.tsx'
import { CHANNEL_KINDS, type ChannelKind, getChannelKind } from './channel-kinds.tsx'
import { WebhookSecretDialog } from './webhook-secret-dialog.tsx'

interface ChannelFormValues {
  name: string
  to: string
  url: string
  botToken: string
  chatId: string
}

/** What is masked in answers cannot be sent back. */
const isMasked = ({ type }: ChannelResource) => type !== 'webhook'

const toFormValues = (channel?: ChannelResource): ChannelFormValues => ({
  name: channel?.name ?? '',
  to: channel?.to.join('\n') ?? '',
  url: channel && !isMasked(channel) ? (channel.url ?? '') : '',
  botToken: '',
  chatId: channel?.chatId ?? '',
})

function toRequestBody(kind: ChannelKind, given: ChannelFormValues, editing: boolean) {
  const values = {
    to: given.to.split(/[\s,;]+/).filter(Boolean),
    url: given.url.trim(),
    botToken: given.botToken.trim(),
    chatId: given.chatId.trim(),
  }
  const own = kind.fields.filter((field) => !editing || values[field].length > 0)
  return {
    name: given.name.trim() || kind.label,
    ...Object.fromEntries(own.map((field) => [field, values[field]])),
  }
}

export function ChannelDrawer({ channel, onClose }: { channel?: ChannelResource; onClose: () => void }) {
  const api = useApi()
  const client = useQueryClient()
  const formId = useId()
  const [type, setType] = useState<ChannelType>(channel?.type ?? 'email')
  const [given, setGiven] = useState(() => toFormValues(channel))
  const [made, setMade] = useState<NewChannelResource>()
  const kind = getChannelKind(type)
  const save = useMutation({
    mutationFn: (): Promise<ChannelResource | NewChannelResource> =>
      channel
        ? updateChannel(api, channel.id, toRequestBody(kind, given, true))
        : createChannel(api, { type, ...toRequestBody(kind, given, false) }),
    onSuccess(saved) {
      void client.invalidateQueries({ queryKey: [api.workspaceId, 'channels'] })
      if ('secret' in saved && saved.secret) return setMade(saved)
      toast(channel ? 'Channel saved' : 'Channel made. Choose it in the settings of a form.')
      onClose()
    },
    onError() {},
  })
  if (made?.secret) return <WebhookSecretDialog secret={made.secret} onClose={onClose} />
  return (
    <Dialog
      drawer
      open
      onClose={onClose}
      title={channel ? `Edit ${channel.name}` : 'New channel'}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" form={formId} busy={save.isPending}>
            {channel ? 'Save' : 'Make channel'}
          </Button>
        </>
      }
    >
      <form
        id={formId}
        className="grid gap-5"
        onSubmit={(event) => {
          event.preventDefault()
          save.mutate()
        }}
      >
        {!channel && <KindChoice type={type} onChange={setType} />}
        <ChannelFields kind={kind} editing={channel} given={given} error={save.error} onChange={setGiven} />
      </form>
    </Dialog>
  )
}

function KindChoice({ type, onChange }: { type: ChannelType; onChange: (type: ChannelType) => void }) {
  return (
    <fieldset>
      <legend className="mb-1.5 text-sm font-medium">Kind</legend>
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
            <span className="truncate">{kind.label}</span>
          </label>
        ))}
      </div>
    </fieldset>
  )
}

function ChannelFields({
  kind,
  editing,
  given,
  error,
  onChange,
}: {
  kind: ChannelKind
  editing?: ChannelResource
  given: ChannelFormValues
  error: Error | null
  onChange: (given: ChannelFormValues) => void
}) {
  const errors = error instanceof ApiError ? error.errors : {}
  const bind = (name: keyof ChannelFormValues) => ({
    name,
    value: given[name],
    onChange: (event: { target: { value: string } }) => onChange({ ...given, [name]: event.target.value }),
  })
  const kept = editing && isMasked(editing) ? 'Leave it empty to keep the one that is there.' : undefined
  return (
    <>
      <p className="text-soft">{kind.about}</p>
      {error && Object.keys(errors).length === 0 && (
        <p role="alert" className="text-danger">
          {error.message}
        </p>
      )}
      <TextField
        label="Name"
        placeholder={kind.label}
        maxLength={100}
        error={errors.name}
        {...bind('name')}
      />
      {kind.fields.includes('to') && (
        <Field label="Addresses" hint="One on each line, at most 20." error={findFieldError(errors, 'to')}>
          {(control) => <Textarea {...control} required autoComplete="off" {...bind('to')} />}
        </Field>
      )}
      {kind.fields.includes('url') && (
        <TextField
          label="URL"
          type="url"
          required={!kept}
          autoComplete="off"
          placeholder={kind.urlExample}
          hint={kept ?? kind.urlHint}
          error={errors.url}
          {...bind('url')}
        />
      )}
      {kind.fields.includes('chatId') && <TelegramFields {...{ bind, errors, kept }} />}
    </>
  )
}

function TelegramFields({
  bind,
  errors,
  kept,
}: {
  bind: (name: keyof ChannelFormValues) => object
  errors: Record<string, string>
  kept: string | undefined
}) {
  return (
    <>
      <TextField
        label="Token of the bot"
        type="password"
        required={!kept}
        autoComplete="off"
        hint={kept ?? 'From @BotFather.'}
        error={errors.botToken}
        {...bind('botToken')}
      />
      <TextField
        label="Chat"
        required
        autoComplete="off"
        hint="The number of the chat, or @name of a channel where the bot may post."
        error={errors.chatId}
        {...bind('chatId')}
      />
    </>
  )
}
