// Short messages about a finished or failed action, some with an Undo button, which `z` presses too. They appear at the
// bottom right, above the place of bars and buttons of dialogs; on phones over the top bar, where they cover neither lists nor buttons.

import { Toast as Base } from '@base-ui/react/toast'
import { X } from 'lucide-react'
import { IconButton } from '../button.tsx'
import { useShortcuts } from '../shortcuts.ts'

// Created outside React, so that mutations and the query client can show toasts too.
const manager = Base.createToastManager()

const UNDO = 'Undo'
const TOAST_MS = 5000

export interface ToastAction {
  /** `Undo` makes the action the one that `z` runs. */
  label: string
  /** Undo resolves with false where it fails and says so itself. */
  run: () => unknown
}

interface ToastOptions {
  /** A button, such as Undo. */
  action?: ToastAction
  /** The toast stays longer while it has the focus or the pointer. 0: until it is closed. */
  forMs?: number
  /** Called once, however the toast closes. */
  onClose?: () => void
}

/** The Undo actions of the open toasts, newest last: `z` runs the last one. */
const undoActions = new Map<string, () => unknown>()

/** @returns closes the toast */
export function toast(title: string, { action, forMs = TOAST_MS, onClose }: ToastOptions = {}) {
  const runAction = () => {
    const result = action?.run()
    manager.close(id)
    return result
  }
  const id: string = manager.add({
    title,
    timeout: forMs,
    onClose() {
      undoActions.delete(id)
      onClose?.()
    },
    actionProps: action && { children: action.label, onClick: runAction },
  })
  if (action?.label === UNDO) undoActions.set(id, runAction)
  return () => manager.close(id)
}

/** Shows an error. It stays longer, and screen readers read it at once. @param what such as `Could not save` */
export function toastError(error: unknown, what?: string) {
  const reason = error instanceof Error ? error.message : String(error)
  manager.add({
    title: what ? `${what}: ${reason}` : reason,
    type: 'error',
    priority: 'high',
    timeout: 10_000,
  })
}

/** Runs the Undo action of the newest toast that has one. */
async function undoNewest() {
  const undo = [...undoActions.values()].at(-1)
  if (!undo) return
  if ((await undo()) !== false) toast('Undone', { forMs: 2000 })
}

const SHORTCUTS = [{ keys: 'z', label: 'Undo the last change', run: () => void undoNewest() }]

export function Toasts() {
  useShortcuts(SHORTCUTS)
  return (
    <Base.Provider toastManager={manager} limit={3}>
      <Base.Portal>
        <Base.Viewport className="fixed top-1 left-2 z-60 grid w-[calc(100%-6.5rem)] max-w-md gap-2 lg:top-auto lg:right-4 lg:bottom-18 lg:left-auto lg:w-92">
          <List />
        </Base.Viewport>
      </Base.Portal>
    </Base.Provider>
  )
}

function List() {
  const { toasts } = Base.useToastManager()
  return toasts.map((item) => (
    <Base.Root
      key={item.id}
      toast={item}
      data-toast=""
      // On phones only the newest is shown: the top bar has room for one.
      className="appear flex min-h-11 items-center gap-2 rounded-xl border border-line bg-card py-1 pr-1 pl-3 shadow-lg max-lg:[[data-toast]~&]:hidden data-[type=error]:border-danger data-[limited]:hidden lg:pl-4"
    >
      <Base.Title className="min-w-0 flex-1 text-sm font-normal wrap-break-word" render={<p />} />
      <Base.Action className="rounded-lg px-2 py-1 text-sm font-semibold text-accent hover:bg-hover" />
      <Base.Close
        render={
          <IconButton label="Dismiss">
            <X size={16} />
          </IconButton>
        }
      />
    </Base.Root>
  ))
}
