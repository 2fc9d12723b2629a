// Deletion of the person's account, with a list of what is deleted with it, or of the obstacles.

import { useQuery, useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type AccountDeletion, accountDeletionQuery, deleteAccount } from '../../../api/account.ts'
import { userQuery } from '../../../api/session.ts'
import { Button } from '../../../ui/button.tsx'
import { ConfirmDialog } from '../../../ui/overlays/confirm-dialog.tsx'
import { QueryState } from '../../../ui/query-state.tsx'

export function DeleteAccount() {
  const client = useQueryClient()
  const { data: user } = useSuspenseQuery(userQuery)
  const deletion = useQuery(accountDeletionQuery)
  const [isConfirming, setConfirming] = useState(false)
  async function handleDelete() {
    await deleteAccount(user?.email ?? '')
    client.clear()
    location.assign('/app/sign-in')
  }
  return (
    <section className="rounded-2xl border border-danger p-4 sm:p-5">
      <h2 className="font-semibold">Delete account</h2>
      <QueryState query={deletion} rows={1} className="mt-3 h-16" />
      {deletion.data && (
        <>
          <Consequences deletion={deletion.data} />
          <Button
            variant="danger"
            disabled={deletion.data.needOwner.length > 0}
            onClick={() => setConfirming(true)}
          >
            Delete account
          </Button>
          <ConfirmDialog
            open={isConfirming}
            onClose={() => setConfirming(false)}
            title="Delete your account?"
            action="Delete permanently"
            mustType={user?.email}
            onConfirm={handleDelete}
          >
            <Consequences deletion={deletion.data} />
          </ConfirmDialog>
        </>
      )}
    </section>
  )
}

function Consequences({ deletion: { workspaces, needOwner } }: { deletion: AccountDeletion }) {
  const list = (names: { id: number; name: string }[]) => (
    <ul className="mt-1 list-disc pl-5">
      {names.map(({ id, name }) => (
        <li key={id} className="break-words">
          {name}
        </li>
      ))}
    </ul>
  )
  if (needOwner.length > 0) {
    return (
      <div className="mt-1 mb-4">
        You’re the only owner of these workspaces, which have other members. Make one of them an owner, or
        delete the workspace first.
        {list(needOwner)}
      </div>
    )
  }
  return (
    <div className="mt-1 mb-4 text-soft">
      Your sessions end, and your name and address are deleted. You can’t undo this.
      {workspaces.length > 0 && (
        <div className="mt-2 text-ink">
          These workspaces have no other members. They’re deleted too, with their links, clicks and forms:
          {list(workspaces)}
        </div>
      )}
    </div>
  )
}
