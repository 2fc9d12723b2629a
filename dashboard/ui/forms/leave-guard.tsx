// Asks before unsaved changes are left: in a dialog for links and the browser's buttons, in the browser's own words before
// the window closes.

import { useBlocker } from '@tanstack/react-router'
import { ConfirmDialog } from '../overlays/confirm-dialog.tsx'

interface Place {
  pathname: string
  search: object
}

const findTab = ({ search }: Place) => ('tab' in search ? search.tab : undefined)

/** Other parameters, such as the page of a form's settings, keep the typed text. */
const isSamePage = (a: Place, b: Place) => a.pathname === b.pathname && findTab(a) === findTab(b)

/** Drawn while there are unsaved changes. @param isKept the changes wait for the return to their page */
export function LeaveGuard({ discard, isKept }: { discard: () => void; isKept: boolean }) {
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) => !isKept && !isSamePage(current, next),
    withResolver: true,
  })
  if (blocker.status !== 'blocked') return null
  return (
    <ConfirmDialog
      onClose={blocker.reset}
      title="Leave without saving?"
      action="Discard changes"
      cancel="Keep editing"
      onConfirm={async () => {
        blocker.proceed()
        discard()
      }}
    >
      <p>Your changes aren’t saved yet.</p>
    </ConfirmDialog>
  )
}
