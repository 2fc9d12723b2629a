// The dialog that explains to a viewer why there is no editor.

import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/overlays/dialog.tsx'

export const ReadOnlyDialog = ({ reason, onClose }: { reason: string; onClose: () => void }) => (
  <Dialog
    open
    onClose={onClose}
    title="You can’t change this"
    footer={
      <Button variant="primary" onClick={onClose}>
        Close
      </Button>
    }
  >
    <p>{reason}</p>
    <p className="mt-2 text-soft">An owner of the workspace can change your role in Settings &gt; Members.</p>
  </Dialog>
)
