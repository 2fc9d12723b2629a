// A dialog with the QR code of a link.

import type { LinkResource } from '../../../../server/features/links/schema.ts'
import { Dialog } from '../../../ui/overlays/dialog.tsx'
import { QrCodePanel } from './qr-code-panel.tsx'

export const QrDialog = ({ link, onClose }: { link: LinkResource; onClose: () => void }) => (
  <Dialog
    onClose={onClose}
    title="QR code"
    description={
      <span className="block truncate">
        {link.domain}/{link.slug}
      </span>
    }
  >
    <QrCodePanel slug={link.slug} domain={link.domain} />
  </Dialog>
)
