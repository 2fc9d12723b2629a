// A window over the page: a dialog in the middle, or a drawer at the side.

import { Dialog as Base } from '@base-ui/react/dialog'
import { X } from 'lucide-react'
import { type ReactNode, useEffect, useState } from 'react'
import { Button, IconButton } from '../button.tsx'
import { classNames } from '../class-names.ts'

interface DialogProps {
  /** For a dialog that is drawn while it is closed too. */
  open?: boolean
  onClose: () => void
  title: ReactNode
  description?: ReactNode
  /** Buttons below the scrolling content. */
  footer?: ReactNode
  /** In place of a footer: the label of its only button, which closes the dialog. */
  done?: string
  children?: ReactNode
  /** Opens at the right side with full height, instead of in the middle. */
  drawer?: boolean
  wide?: boolean
}

export function Dialog({
  open = true,
  onClose,
  title,
  description,
  done,
  children,
  drawer,
  wide,
  ...props
}: DialogProps) {
  useFocusReturn()
  const footer = done ? (
    <Button variant="primary" onClick={onClose}>
      {done}
    </Button>
  ) : (
    props.footer
  )
  const place = drawer
    ? 'slide inset-y-0 right-0 h-dvh w-full border-l sm:max-w-xl'
    : classNames(
        'appear top-[8dvh] left-1/2 max-h-[84dvh] w-[calc(100%-2rem)] -translate-x-1/2 rounded-2xl border',
        wide ? 'max-w-3xl' : 'max-w-lg',
      )
  return (
    <Base.Root open={open} onOpenChange={(next, { event }) => next || isOnNotice(event) || onClose()}>
      <Base.Portal>
        <Base.Backdrop data-backdrop className="fade fixed inset-0 z-40 bg-shade" />
        <Base.Popup className={classNames('fixed z-50 flex flex-col border-line bg-card shadow-xl', place)}>
          <header className="flex items-start gap-3 border-b border-line px-5 py-4">
            <div className="min-w-0 flex-1">
              <Base.Title className="text-lg font-semibold wrap-anywhere">{title}</Base.Title>
              {description && (
                <Base.Description className="mt-0.5 text-sm text-soft">{description}</Base.Description>
              )}
            </div>
            <IconButton label="Close" onClick={onClose}>
              <X size={18} />
            </IconButton>
          </header>
          <div className="min-h-0 flex-1 overflow-y-auto px-5 py-4">{children}</div>
          {footer && (
            <footer className="flex flex-wrap justify-end gap-2 border-t border-line px-5 py-3">
              {footer}
            </footer>
          )}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  )
}

/** A press on a notice over the page, such as "You’re signed out", must not lose the text in the dialog. */
const isOnNotice = ({ target }: Event) =>
  target instanceof Element && target.closest('[data-notice]') !== null

/** Returns the focus to the previous element when the dialog unmounts. */
function useFocusReturn() {
  const [previous] = useState(() => document.activeElement)
  useEffect(
    () => () => {
      requestAnimationFrame(() => {
        if (document.activeElement !== document.body || !(previous instanceof HTMLElement)) return
        if (previous.isConnected) previous.focus({ preventScroll: true })
      })
    },
    [previous],
  )
}
