// Somebody wants to be forgotten: everything sent with an e-mail address, in every form, for good.

import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { eraseSubmissions, submissionCountQuery } from '../../../api/submissions.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { Button } from '../../../ui/button.tsx'
import { formatCount } from '../../../ui/format.ts'
import { TextField } from '../../../ui/forms/field.tsx'
import { ConfirmDialog, Dialog } from '../../../ui/overlays/dialog.tsx'
import { toast } from '../../../ui/overlays/toast.tsx'

/** @param email where it is known whom it is about */
export default function ErasePersonDialog({
  email: known,
  onClose,
}: {
  email?: string
  onClose: () => void
}) {
  const [email, setEmail] = useState(known)
  if (email === undefined) return <EmailStep onClose={onClose} onAsked={setEmail} />
  return <ConfirmStep email={email} onClose={onClose} />
}

function EmailStep({ onClose, onAsked }: { onClose: () => void; onAsked: (email: string) => void }) {
  const id = useId()
  return (
    <Dialog
      open
      onClose={onClose}
      title="Erase a person"
      description="Deletes everything that was sent with an e-mail address, in all forms."
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" form={id} look="primary">
            Look what there is
          </Button>
        </>
      }
    >
      <form
        id={id}
        onSubmit={(event) => {
          event.preventDefault()
          onAsked(String(new FormData(event.currentTarget).get('email')).trim())
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
          hint="Upper and lower case are the same."
        />
      </form>
    </Dialog>
  )
}

function ConfirmStep({ email, onClose }: { email: string; onClose: () => void }) {
  const api = useApi()
  const client = useQueryClient()
  const found = useQuery(submissionCountQuery(api, { email, status: 'all' }))
  if (found.data === 0)
    return (
      <Dialog
        open
        onClose={onClose}
        title="There is nothing to erase"
        footer={
          <Button look="primary" onClick={onClose}>
            Close
          </Button>
        }
      >
        <p className="break-words">Nothing was sent with {email}.</p>
      </Dialog>
    )
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      title={`Erase ${email}?`}
      action="Erase for good"
      mustType={email}
      onConfirm={async () => {
        const { erased } = await eraseSubmissions(api, email)
        void client.invalidateQueries({ queryKey: [api.workspaceId, 'submissions'] })
        void client.invalidateQueries({ queryKey: [api.workspaceId, 'forms'] })
        toast(`${formatCount(erased, 'submission')} erased`)
      }}
    >
      <p>
        {found.data === undefined ? 'Everything' : formatCount(found.data, 'submission')} sent with this
        address, with what is known of where it came from and the record of notifications about it. Nothing
        brings it back.
      </p>
    </ConfirmDialog>
  )
}
