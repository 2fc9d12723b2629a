// The dialog that invites a member, and then shows the invitation link.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { toFieldErrors } from '../../api/client.ts'
import { invitationsQuery, invite, type MemberResource } from '../../api/workspace.ts'
import { useApi } from '../../shell/use-workspace.ts'
import { OneTimeSecretDialog } from '../../ui/copy/one-time-secret-dialog.tsx'
import { Field, TextField } from '../../ui/forms/field.tsx'
import { FormDialog } from '../../ui/forms/form-dialog.tsx'
import { RoleSelect } from './role-select.tsx'

export function InviteDialog({ onClose }: { onClose: () => void }) {
  const api = useApi()
  const client = useQueryClient()
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<MemberResource['role']>('member')
  const send = useMutation({
    mutationFn: () => invite(api, { email, role }),
    onSuccess: () => client.invalidateQueries({ queryKey: invitationsQuery(api).queryKey }),
    onError() {},
  })
  if (send.data) return <InvitationLinkDialog invitation={send.data} onClose={onClose} />
  const errors = toFieldErrors(send.error, ['email', 'role'])
  return (
    <FormDialog
      onClose={onClose}
      title="Invite a member"
      action="Invite"
      busy={send.isPending}
      onSubmit={() => send.mutate()}
    >
      <TextField
        label="Email"
        type="email"
        required
        autoFocus
        maxLength={254}
        value={email}
        onChange={(event) => setEmail(event.target.value)}
        error={errors.email ?? errors.general}
      />
      <Field label="Role" error={errors.role}>
        {(control) => <RoleSelect {...control} value={role} onChange={setRole} />}
      </Field>
    </FormDialog>
  )
}

const InvitationLinkDialog = ({
  invitation: { email, url, mailed },
  onClose,
}: {
  invitation: { email: string; url: string; mailed: boolean }
  onClose: () => void
}) => (
  <OneTimeSecretDialog
    title={`${email} is invited`}
    description={
      mailed
        ? 'We sent the link by email. You can also share it yourself.'
        : 'This server couldn’t send an email. Share the link yourself.'
    }
    text={url}
    label="Copy invitation link"
    done="Done"
    onClose={onClose}
  >
    <p className="mt-3 text-sm text-soft">
      The link works once, for {email} only, for seven days. It isn’t shown again.
    </p>
  </OneTimeSecretDialog>
)
