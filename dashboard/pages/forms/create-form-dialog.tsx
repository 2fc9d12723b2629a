// The dialog that creates a form: its name, and whether you are notified of its submissions.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { ensureOwnChannel, listChannelsOfNewForms, tellsAddress } from '../../api/channels/own-channel.ts'
import { type ChannelResource, channelsQuery } from '../../api/channels.ts'
import { toFieldErrors } from '../../api/client.ts'
import { createForm, formQuery } from '../../api/forms.ts'
import { signInOptionsQuery, userQuery } from '../../api/session.ts'
import { useApi } from '../../shell/use-workspace.ts'
import { formatExample, TextField, Toggle } from '../../ui/forms/field.tsx'
import { FormDialog } from '../../ui/forms/form-dialog.tsx'

/** A form that is made here thanks on a page of this server: it works on every site, without the snippet too. */
const NEW_FORM = { afterSubmit: 'hosted', onError: 'hosted' } as const

interface NewForm {
  name: string
  /** The address to notify of submissions; absent by default. */
  notify?: string
}

function useCreateForm(email: string) {
  const api = useApi()
  const client = useQueryClient()
  const navigate = useNavigate()
  return useMutation({
    async mutationFn({ name, notify }: NewForm) {
      // The server refuses a form without a name: no channel is made for it.
      const own = notify && name.trim() !== '' ? [await ensureOwnChannel(api, client, notify)] : []
      const { data } = await client.ensureQueryData(channelsQuery(api))
      const others = listChannelsOfNewForms(data, email).map(({ id }) => id)
      return createForm(api, { ...NEW_FORM, name, channelIds: [...others, ...own] })
    },
    async onSuccess(form) {
      client.setQueryData(formQuery(api, form.formKey).queryKey, form)
      void client.invalidateQueries({ queryKey: [api.workspaceId, 'forms'] })
      void client.invalidateQueries({ queryKey: channelsQuery(api).queryKey })
      await navigate({
        to: '/$workspaceId/forms/$formKey',
        params: { workspaceId: String(api.workspaceId), formKey: form.formKey },
        search: {},
      })
    },
    onError() {},
  })
}

export default function CreateFormDialog({ onClose }: { onClose: () => void }) {
  const { data: user } = useQuery(userQuery)
  const { data: server } = useQuery(signInOptionsQuery)
  const { data: channels } = useQuery(channelsQuery(useApi()))
  const [isNotifying, setNotifying] = useState(true)
  const email = user?.email ?? ''
  const others = listChannelsOfNewForms(channels?.data ?? [], email)
  const canMail = server?.mail !== false
  const canChoose = canMail && !others.some((channel) => tellsAddress(channel, email))
  const create = useCreateForm(email)
  const errors = toFieldErrors(create.error, ['name'])
  return (
    <FormDialog
      onClose={onClose}
      title="New form"
      description="You get an endpoint for your HTML form, and code to copy."
      action="Create form"
      busy={create.isPending}
      error={errors.general}
      noValidate
      className="grid gap-5"
      onSubmit={(fields) => {
        const name = String(fields.get('name'))
        create.mutate({ name, ...(isNotifying && canChoose && { notify: email }) })
      }}
    >
      <TextField
        label="Name"
        name="name"
        placeholder={formatExample('Contact')}
        hint="For your team. Senders see it only when they confirm their address."
        required
        maxLength={200}
        autoComplete="off"
        autoFocus
        error={errors.name}
      />
      {canChoose && (
        <Toggle
          label="Notify me"
          hint={`Emails new submissions to ${email}.`}
          checked={isNotifying}
          onChange={(event) => setNotifying(event.target.checked)}
        />
      )}
      {!canMail && (
        <p className="text-sm text-soft">
          This server can’t send email. Choose another channel in the form’s settings.
        </p>
      )}
      {others.length > 0 && <Others channels={others} />}
    </FormDialog>
  )
}

const Others = ({ channels }: { channels: ChannelResource[] }) => (
  <p className="text-sm text-soft">Every new form notifies {channels.map(({ name }) => name).join(', ')}.</p>
)
