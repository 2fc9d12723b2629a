// Asks before a link, the back button or a closed tab ends something that is not finished.

import { useBlocker } from '@tanstack/react-router'
import type { ComponentProps } from 'react'
import { ConfirmDialog } from './confirm-dialog.tsx'

type Question = Pick<ComponentProps<typeof ConfirmDialog>, 'title' | 'action' | 'cancel' | 'children'>

export function LeaveDialog({ isBlocked, ...question }: Question & { isBlocked: () => boolean }) {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: isBlocked,
    enableBeforeUnload: isBlocked,
    withResolver: true,
  })
  return (
    <ConfirmDialog
      {...question}
      open={status === 'blocked'}
      onClose={() => reset?.()}
      onConfirm={async () => proceed?.()}
    />
  )
}
