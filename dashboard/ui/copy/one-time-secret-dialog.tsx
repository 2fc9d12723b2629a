// A dialog with a text that is shown only once: an API key, a secret, an invitation link.

import type { ReactNode } from 'react'
import { Dialog } from '../overlays/dialog.tsx'
import { CopyableText } from './copyable-text.tsx'

/** @param label names the copy button, such as "Copy key" */
export const OneTimeSecretDialog = ({
  title,
  description = 'Save it now. It isn’t shown again.',
  text,
  label,
  done = 'I saved it',
  onClose,
  children,
}: {
  title: string
  description?: string
  text: string
  label: string
  done?: string
  onClose: () => void
  children?: ReactNode
}) => (
  <Dialog onClose={onClose} title={title} description={description} done={done}>
    <CopyableText text={text} label={label} />
    {children}
  </Dialog>
)
