// The dialog that explains to a viewer why there is no editor.

import { Dialog } from '../ui/overlays/dialog.tsx'

export const ReadOnlyDialog = ({ reason, onClose }: { reason: string; onClose: () => void }) => (
  <Dialog onClose={onClose} title="You can’t change this" done="Close">
    <p>{reason}</p>
    <p className="mt-2 text-soft">An owner of the workspace can change your role in Settings &gt; Members.</p>
  </Dialog>
)
