// The drawer that creates and edits a channel. Stored secrets are not shown: an empty field keeps the current value.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useId, useState } from 'react'
import {
  type ChannelResource,
  type ChannelType,
  createChannel,
  type NewChannelResource,
  updateChannel,
} from '../../api/channels.ts'
import { toFieldErrors } from '../../api/client.ts'
import { signInOptionsQuery } from '../../api/session.ts'
import { useApi } from '../../shell/use-workspace.ts'
import { Button } from '../../ui/button.tsx'
import { classNames } from '../../ui/class-names.ts'
import { Field, Textarea, TextField } from '../../ui/forms/field.tsx'
import { FormError, findFieldError } from '../../ui/forms/form-error.tsx'
import { Dialog } from '../../ui/overlays/dialog.tsx'
import { toast } from '../../ui/overlays/toast.tsx'
import { CHANNEL_KINDS, type ChannelKind, getChannelKind } from './channel-kinds.tsx'
import { ChannelNotice } from './channel-notice.tsx'
import { MailNotice } from './mail-notice.tsx'
import { RecipientNotice } from './recipient-notice.tsx'
import { WebhookSecretDialog } from './webhook-secret-dialog.tsx'

interface ChannelFormValues {
  name: string
  to: string
  url: string
  botToken: string
  chatId: string
}

/** The API masks the URL of these types, so that the form cannot show it. */
const isMasked = ({ type }: ChannelResource) => type !== 'webhook'

const toFormValues = (channel?: ChannelResource): ChannelFormValues => ({
  name: channel?.name ?? '',
  to: channel?.to.join('\n') ?? '',
  url: channel && !isMasked(channel) ? (channel.url ?? '') : '',
  botToken: '',
  chatId: channel?.chatId ?? '',
})

const listAddresses = ({ to }: ChannelFormValues) => to.split(/[\s,;]+/).filter(Boolean)

/** The API numbers the addresses. People see which one is wrong. */
function findAddressError(errors: Record<string, string>, values: ChannelFormValues): string | undefined {
  const index = Object.keys(errors)
    .map((field) => /^to[.[](\d+)/.exec(field)?.[1])
    .find((found) => found !== undefined)
  const address = index === undefined ? undefined : listAddresses(values)[Number(index)]
  return address === undefined ? findFieldError(errors, 'to') : `${address} is not an e-mail address`
}

/** A hook of another chat server is not named Slack. */
function toDefaultName(kind: ChannelKind, url: string): string {
  const host = URL.parse(url)?.hostname
  return kind.others && host !== undefined && !/(^|\.)slack(-gov)?\.com$/.test(host) ? host : kind.label
}

function toRequestBody(kind: ChannelKind, values: ChannelFormValues, editing: boolean) {
  const fields = {
    to: listAddresses(values),
    url: values.url.trim(),
    botToken: values.botToken.trim(),
    chatId: values.chatId.trim(),
  }
  const filled = kind.fields.filter((field) => !editing || fields[field].length > 0)
  return {
    name: values.name.trim() || toDefaultName(kind, fields.url),
    ...Object.fromEntries(filled.map((field) => [field, fields[field]])),
  }
}

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
        ? updateChannel(api, channel.id, toRequestBody(kind, values, true))
        : createChannel(api, { type, ...toRequestBody(kind, values, false) }),
    // Waits for the list, so that the focus can go to the channel's row.
    async onSuccess(saved) {
      await client.invalidateQueries({ queryKey: [api.workspaceId, 'channels'] })
      if ('secret' in saved && saved.secret) return onCreatedSecret(saved)
      toast(channel ? 'Channel saved' : 'Channel created. To use it, select it in a form’s settings.')
      onClose(saved.id)
    },
    onError() {},
  })
}

export function ChannelDrawer({ channel, onClose }: DrawerProps) {
  const formId = useId()
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
    <Dialog
      drawer
      open
      onClose={() => onClose()}
      title={channel ? `Edit ${channel.name}` : 'New channel'}
      footer={
        <>
          <Button onClick={() => onClose()}>Cancel</Button>
          <Button variant="primary" type="submit" form={formId} disabled={cannotCreate} busy={save.isPending}>
            {channel ? 'Save' : 'Create channel'}
          </Button>
        </>
      }
    >
      <form
        id={formId}
        className="grid gap-5"
        onSubmit={(event) => {
          event.preventDefault()
          if (!save.isPending) save.mutate()
        }}
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
      </form>
    </Dialog>
  )
}

interface KindChoiceProps {
  type: ChannelType
  hasMail: boolean
  onChange: (type: ChannelType) => void
}

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

function ChannelFields({
  kind,
  editing,
  values,
  error,
  onChange,
}: {
  kind: ChannelKind
  editing?: ChannelResource
  values: ChannelFormValues
  error: Error | null
  onChange: (values: ChannelFormValues) => void
}) {
  const errors = toFieldErrors(error, ['name', ...kind.fields])
  const bind = (name: keyof ChannelFormValues) => ({
    name,
    value: values[name],
    onChange: (event: { target: { value: string } }) => onChange({ ...values, [name]: event.target.value }),
  })
  const keepHint = editing && isMasked(editing) ? 'Leave empty to keep the current one.' : undefined
  return (
    <>
      <p className="text-soft">{kind.about}</p>
      {(errors.general ?? errors.type) && <FormError>{errors.general ?? errors.type}</FormError>}
      <TextField
        label="Name"
        placeholder={kind.label}
        maxLength={100}
        error={errors.name}
        {...bind('name')}
      />
      {kind.fields.includes('to') && (
        <Field
          label="E-mail addresses"
          hint="One per line, 20 at most. Each gets an e-mail with a link to confirm."
          error={findAddressError(errors, values)}
        >
          {(control) => <Textarea {...control} required autoComplete="off" {...bind('to')} />}
        </Field>
      )}
      {kind.fields.includes('url') && (
        <TextField
          label="URL"
          type="url"
          required={!keepHint}
          autoComplete="off"
          placeholder={kind.urlExample}
          hint={keepHint ?? kind.urlHint}
          error={errors.url}
          {...bind('url')}
        />
      )}
      {kind.fields.includes('chatId') && <TelegramFields {...{ bind, errors, keepHint }} />}
    </>
  )
}

function TelegramFields({
  bind,
  errors,
  keepHint,
}: {
  bind: (name: keyof ChannelFormValues) => object
  errors: Record<string, string>
  keepHint: string | undefined
}) {
  return (
    <>
      <TextField
        label="Bot token"
        type="password"
        required={!keepHint}
        autoComplete="off"
        hint={keepHint ?? 'From @BotFather.'}
        error={errors.botToken}
        {...bind('botToken')}
      />
      <TextField
        label="Chat ID"
        required
        autoComplete="off"
        hint="The chat’s number, or the @name of a channel where the bot may post."
        error={errors.chatId}
        {...bind('chatId')}
      />
    </>
  )
}
