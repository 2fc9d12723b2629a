// Something that is shown now and never again: a key, a secret, a link.

import type { ReactNode } from 'react'
import { Button } from '../button.tsx'
import { Dialog } from '../overlays/dialog.tsx'
import { CopyButton } from './copy-button.tsx'

/** A line of text that one takes along. */
export const CopyableText = ({ text, label }: { text: string; label: string }) => (
  <div className="flex items-center gap-2 rounded-lg border border-line bg-sunken p-3">
    <code className="min-w-0 flex-1 break-all">{text}</code>
    <CopyButton text={text} label={label} />
  </div>
)

/** @param label what is copied, such as "Copy the key" */
export const OneTimeSecretDialog = ({
  title,
  description = 'Keep it now: it is not shown again.',
  text,
  label,
  done = 'I have kept it',
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
  <Dialog
    open
    onClose={onClose}
    title={title}
    description={description}
    footer={
      <Button look="primary" onClick={onClose}>
        {done}
      </Button>
    }
  >
    <CopyableText text={text} label={label} />
    {children}
  </Dialog>
)
