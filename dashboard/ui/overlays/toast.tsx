// Short messages about a finished or failed action, some with an Undo button. They appear where they cover no buttons
// of a drawer: at the bottom left, on phones at the top.

import { Toast as Base } from '@base-ui/react/toast'
import { X } from 'lucide-react'
import { IconButton } from '../button.tsx'

// Created outside React, so that mutations and the query client can show toasts too.
const manager = Base.createToastManager()

export interface ToastAction {
  label: string
  run: () => void
}

/** @param action a button, such as Undo. @returns closes the toast */
export function toast(title: string, { action, forMs }: { action?: ToastAction; forMs?: number } = {}) {
  const id = manager.add({
    title,
    timeout: forMs ?? 5000,
    actionProps: action && {
      children: action.label,
      onClick() {
        action.run()
        manager.close(id)
      },
    },
  })
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

export function Toasts() {
  return (
    <Base.Provider toastManager={manager} limit={3}>
      <Base.Portal>
        <Base.Viewport className="fixed inset-x-4 top-4 z-60 mx-auto grid max-w-md gap-2 sm:top-auto sm:bottom-4 sm:mx-0 lg:right-auto lg:left-66 lg:w-md">
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
      className="appear flex items-center gap-3 rounded-xl border border-line bg-card py-2.5 pr-2 pl-4 shadow-lg data-[type=error]:border-danger data-[limited]:hidden"
    >
      <Base.Title className="min-w-0 flex-1 text-sm font-normal break-words" render={<p />} />
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
