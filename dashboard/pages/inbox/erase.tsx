// Somebody wants to be forgotten: everything sent with an e-mail address, in every form, for good.

import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { countQuery, eraseSubmissions } from '../../api/submissions.ts'
import { useApi } from '../../shell/workspace.ts'
import { Button } from '../../ui/button.tsx'
import { Confirm, Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { count } from '../../ui/format.ts'
import { toast } from '../../ui/toast.tsx'

/** @param email where it is known whom it is about */
export default function Erase({ email: known, onClose }: { email?: string; onClose: () => void }) {
  const [email, setEmail] = useState(known)
  if (email === undefined) return <Ask onClose={onClose} onAsked={setEmail} />
  return <Sure email={email} onClose={onClose} />
}

function Ask({ onClose, onAsked }: { onClose: () => void; onAsked: (email: string) => void }) {
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

function Sure({ email, onClose }: { email: string; onClose: () => void }) {
  const api = useApi()
  const client = useQueryClient()
  const found = useQuery(countQuery(api, { email, status: 'all' }))
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
    <Confirm
      open
      onClose={onClose}
      title={`Erase ${email}?`}
      action="Erase for good"
      mustType={email}
      onConfirm={async () => {
        const { erased } = await eraseSubmissions(api, email)
        void client.invalidateQueries({ queryKey: [api.workspaceId, 'submissions'] })
        void client.invalidateQueries({ queryKey: [api.workspaceId, 'forms'] })
        toast(`${count(erased, 'submission')} erased`)
      }}
    >
      <p>
        {found.data === undefined ? 'Everything' : count(found.data, 'submission')} sent with this address,
        with what is known of where it came from and the record of notifications about it. Nothing brings it
        back.
      </p>
    </Confirm>
  )
}
