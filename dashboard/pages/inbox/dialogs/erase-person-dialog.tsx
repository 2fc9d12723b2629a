// Erases all submissions with one e-mail address, in every form, after a confirmation.

import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { eraseSubmissions, submissionCountQuery } from '../../../api/submissions.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { Button } from '../../../ui/button.tsx'
import { formatCount } from '../../../ui/format.ts'
import { TextField } from '../../../ui/forms/field.tsx'
import { ConfirmDialog } from '../../../ui/overlays/confirm-dialog.tsx'
import { Dialog } from '../../../ui/overlays/dialog.tsx'
import { toast } from '../../../ui/overlays/toast.tsx'

/** @param email the address, where it is already known; otherwise the dialog asks for it */
export default function ErasePersonDialog({
  email: initialEmail,
  onClose,
}: {
  email?: string
  onClose: () => void
}) {
  const [email, setEmail] = useState(initialEmail)
  if (email === undefined) return <EmailStep onClose={onClose} onSubmit={setEmail} />
  return <ConfirmStep email={email} onClose={onClose} />
}

function EmailStep({ onClose, onSubmit }: { onClose: () => void; onSubmit: (email: string) => void }) {
  const id = useId()
  return (
    <Dialog
      open
      onClose={onClose}
      title="Erase personal data"
      description="Deletes all submissions with one e-mail address, in all forms."
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" form={id} variant="primary">
            Find submissions
          </Button>
        </>
      }
    >
      <form
        id={id}
        onSubmit={(event) => {
          event.preventDefault()
          onSubmit(String(new FormData(event.currentTarget).get('email')).trim())
        }}
      >
        <TextField
          label="E-mail address"
          name="email"
          type="email"
          required
          autoFocus
          autoComplete="off"
          maxLength={254}
          hint="Not case-sensitive."
        />
      </form>
    </Dialog>
  )
}

function ConfirmStep({ email, onClose }: { email: string; onClose: () => void }) {
  const api = useApi()
  const client = useQueryClient()
  const count = useQuery(submissionCountQuery(api, { email, status: 'all' }))
  if (count.data === 0)
    return (
      <Dialog
        open
        onClose={onClose}
        title="Nothing to erase"
        footer={
          <Button variant="primary" onClick={onClose}>
            Close
          </Button>
        }
      >
        <p className="break-words">No submission has the e-mail address {email}.</p>
      </Dialog>
    )
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      title={`Erase ${email}?`}
      action="Erase permanently"
      mustType={email}
      onConfirm={async () => {
        const { erased } = await eraseSubmissions(api, email)
        void client.invalidateQueries({ queryKey: [api.workspaceId, 'submissions'] })
        void client.invalidateQueries({ queryKey: [api.workspaceId, 'forms'] })
        toast(`${formatCount(erased, 'submission')} erased`)
      }}
    >
      <p>
        This erases{count.data === undefined ? 'all submissions' : formatCount(count.data, 'submission')} with
        this address, their attribution and their notification records. You cannot undo this.
      </p>
    </ConfirmDialog>
  )
}
