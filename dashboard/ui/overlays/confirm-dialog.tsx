// The question before a deletion: a dialog with Cancel and one action, and a text to type where nothing can be
// undone.

import { type ReactNode, useState } from 'react'
import { Button } from '../button.tsx'
import { Dialog } from './dialog.tsx'

interface ConfirmProps {
  open?: boolean
  onClose: () => void
  title: string
  children: ReactNode
  /** The label of the button that confirms. */
  action: string
  /** The label of the button that closes the dialog. */
  cancel?: string /** The dialog stays open until this has resolved, and shows the error when it fails. */
  onConfirm: () => Promise<unknown>
  /** A text that must be typed first, for actions that cannot be undone. */
  mustType?: string
}

export function ConfirmDialog({
  open,
  onClose,
  title,
  children,
  action,
  cancel = 'Cancel',
  onConfirm,
  mustType,
}: ConfirmProps) {
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
          <Button onClick={onClose}>{cancel}</Button>
          <Button
            variant="danger"
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
              Type <strong className="break-all">{mustType}</strong> to confirm
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
