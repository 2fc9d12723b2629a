// What a viewer sees in place of what only members can do: a line on every page, and a note in place of an editor.

import { Eye } from 'lucide-react'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/overlays/dialog.tsx'

const REASON = 'You are a viewer of this workspace: you can see everything and change nothing.'

export const ViewerNotice = () => (
  <p className="flex items-center gap-2 border-b border-line bg-sunken px-4 py-2 text-sm text-soft sm:px-8 lg:h-9 lg:py-0">
    <Eye size={15} aria-hidden className="shrink-0" />
    {REASON}
  </p>
)

/** Opens where an address leads to an editor. */
export const ViewerDialog = ({ onClose }: { onClose: () => void }) => (
  <Dialog
    open
    onClose={onClose}
    title="You cannot change this"
    footer={
      <Button variant="primary" onClick={onClose}>
        Close
      </Button>
    }
  >
    <p>{REASON}</p>
    <p className="mt-2 text-soft">An owner of the workspace can change your role in Settings &gt; Members.</p>
  </Dialog>
)
