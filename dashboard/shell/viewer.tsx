// Read-only notices for viewers: a line on every page, and a note in place of an editor.

import { Eye } from 'lucide-react'
import { lazyPart } from '../ui/lazy-part.tsx'

const ReadOnlyDialog = lazyPart(() => import('./viewer-dialog.tsx'), 'ReadOnlyDialog')

const REASON = 'You have view-only access to this workspace.'

export const ViewerNotice = () => (
  <p className="flex items-center gap-2 border-b border-line bg-sunken px-4 py-2 text-sm text-soft sm:px-8 lg:h-9 lg:py-0">
    <Eye size={15} aria-hidden className="shrink-0" />
    {REASON}
  </p>
)

/** Opens where an address leads to an editor. */
export const ViewerDialog = ({ onClose }: { onClose: () => void }) => (
  <ReadOnlyDialog reason={REASON} onClose={onClose} />
)
