// A bar over the page: the person is signed out, or has lost the workspace. It stays until the reason is gone, and
// the page below keeps the typed text.

import { useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { createPortal } from 'react-dom'
import { workspacesQuery } from '../../api/session.ts'
import { askToSignIn } from '../../api/session-gate.ts'
import { Button } from '../../ui/button.tsx'

export const SignedOutNotice = () => (
  <PageNotice action="Sign in" onAction={askToSignIn}>
    You’re signed out. Your input is still here, and nothing is saved until you sign in.
  </PageNotice>
)

export function WorkspaceGoneNotice() {
  const client = useQueryClient()
  return (
    <PageNotice
      action="Leave this page"
      onAction={() => client.invalidateQueries({ queryKey: workspacesQuery.queryKey })}
    >
      You can no longer open this workspace: it was deleted, or you aren’t a member anymore. Copy what you
      still need before you leave.
    </PageNotice>
  )
}

/** `data-notice`: a press on it closes no dialog of the page (ui/overlays/dialog.tsx). */
const PageNotice = ({
  action,
  onAction,
  children,
}: {
  action: string
  onAction: () => void
  children: ReactNode
}) =>
  createPortal(
    <div
      role="status"
      aria-live="polite"
      data-notice=""
      className="fixed inset-x-4 bottom-4 z-60 mx-auto flex max-w-2xl flex-wrap items-center gap-x-4 gap-y-2 rounded-xl border border-warn bg-warn-tint px-4 py-2.5 text-sm shadow-lg"
    >
      <p className="min-w-0 flex-1 basis-60">{children}</p>
      <Button size="small" variant="primary" onClick={onAction}>
        {action}
      </Button>
    </div>,
    document.body,
  )
