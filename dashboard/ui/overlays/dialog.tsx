// Windows over the page: a dialog in the middle, a drawer at the side, and the question before something is gone.

import { Dialog as Base } from '@base-ui/react/dialog'
import { X } from 'lucide-react'
import { type ReactNode, useEffect, useState } from 'react'
import { Button, IconButton } from '../button.tsx'
import { classNames } from '../class-names.ts'

interface DialogProps {
  open: boolean
  onClose: () => void
  title: ReactNode
  description?: ReactNode
  /** Stands below what scrolls: the buttons. */
  footer?: ReactNode
  children?: ReactNode
  /** At the right side over the whole height, instead of in the middle. */
  drawer?: boolean
  wide?: boolean
}

export function Dialog({ open, onClose, title, description, footer, children, drawer, wide }: DialogProps) {
  useFocusReturn()
  const place = drawer
    ? 'slide inset-y-0 right-0 h-dvh w-full border-l sm:max-w-xl'
    : classNames(
        'appear top-[8dvh] left-1/2 max-h-[84dvh] w-[calc(100%-2rem)] -translate-x-1/2 rounded-2xl border',
        wide ? 'max-w-3xl' : 'max-w-lg',
      )
  return (
    <Base.Root open={open} onOpenChange={(next) => next || onClose()}>
      <Base.Portal>
        <Base.Backdrop className="fade fixed inset-0 z-40 bg-shade" />
        <Base.Popup className={classNames('fixed z-50 flex flex-col border-line bg-card shadow-xl', place)}>
          <header className="flex items-start gap-3 border-b border-line px-5 py-4">
            <div className="min-w-0 flex-1">
              <Base.Title className="text-lg font-semibold">{title}</Base.Title>
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

/** Where a window is closed by not drawing it any more: the keyboard goes back to where it was before. */
function useFocusReturn() {
  const [before] = useState(() => document.activeElement)
  useEffect(
    () => () => {
      requestAnimationFrame(() => {
        if (document.activeElement !== document.body || !(before instanceof HTMLElement)) return
        if (before.isConnected) before.focus({ preventScroll: true })
      })
    },
    [before],
  )
}

interface ConfirmProps {
  open: boolean
  onClose: () => void
  title: string
  children: ReactNode
  action: string
  /** The window stays until it has ended, and shows what went wrong. */
  onConfirm: () => Promise<unknown>
  /** Must be typed first, where nothing brings it back. */
  mustType?: string
}

export function ConfirmDialog({ open, onClose, title, children, action, onConfirm, mustType }: ConfirmProps) {
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string>()
  const [typed, setTyped] = useState('')
  async function confirm() {
    setBusy(true)
    setProblem(undefined)
    try {
      await onConfirm()
      onClose()
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error))
    } finally {
      setBusy(false)
    }
  }
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title={title}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            look="danger"
            busy={busy}
            disabled={mustType !== undefined && typed !== mustType}
            onClick={confirm}
          >
            {action}
          </Button>
        </>
      }
    >
      <div className="grid gap-3">
        {children}
        {mustType !== undefined && (
          <label className="grid gap-1.5 text-sm">
            <span>
              Type <strong className="break-all">{mustType}</strong> to go on
            </span>
            <input
              value={typed}
              onChange={(event) => setTyped(event.target.value)}
              autoComplete="off"
              className="h-9 rounded-lg border border-strong bg-card px-3"
            />
          </label>
        )}
        {problem && (
          <p role="alert" className="text-danger">
            {problem}
          </p>
        )}
      </div>
    </Dialog>
  )
}
