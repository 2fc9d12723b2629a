// The browser's own modal dialog, above all other dialogs. It is outside of the page, so a dialog below it stays open
// with its text.

import { X } from 'lucide-react'
import { type ReactNode, useEffect, useId, useRef } from 'react'
import { createPortal } from 'react-dom'
import { IconButton } from '../button.tsx'

export function ModalDialog({
  title,
  description,
  onClose,
  children,
}: {
  title: string
  description?: ReactNode
  onClose: () => void
  children: ReactNode
}) {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const previous = document.activeElement
    dialog.current?.showModal()
    // The browser would focus the button that closes the dialog.
    dialog.current?.querySelector('input')?.focus()
    // While a pressed button is disabled, keys go to the page: Escape would close the dialog below this one too.
    const keepKeys = (event: KeyboardEvent) => {
      if (!(event.target instanceof Element && event.target.closest('dialog'))) event.stopPropagation()
    }
    addEventListener('keydown', keepKeys, { capture: true })
    return () => {
      removeEventListener('keydown', keepKeys, { capture: true })
      if (previous instanceof HTMLElement && previous.isConnected) previous.focus({ preventScroll: true })
    }
  }, [])
  return createPortal(
    <dialog
      ref={dialog}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onKeyDown={(event) => event.stopPropagation()}
      className="fixed top-[8dvh] bottom-auto mx-auto my-0 max-h-[84dvh] w-[calc(100%-2rem)] max-w-md overflow-y-auto rounded-2xl border border-line bg-card p-0 text-ink shadow-xl backdrop:bg-shade"
    >
      <header className="flex items-start gap-3 border-b border-line px-5 py-4">
        <div className="min-w-0 flex-1">
          <h2 id={id} className="text-lg font-semibold">
            {title}
          </h2>
          {description && <p className="mt-0.5 text-sm text-soft">{description}</p>}
        </div>
        <IconButton label="Close" onClick={onClose}>
          <X size={18} />
        </IconButton>
      </header>
      <div className="grid gap-4 px-5 py-4">{children}</div>
    </dialog>,
    document.body,
  )
}
