// Deletes with Undo: an item disappears from the screen at once, and is deleted on the server when the toast closes.

import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useCallback, useSyncExternalStore } from 'react'
import { toast, toastError } from './toast.tsx'

const UNDO_MS = 6000

/** Keys of the items that wait for their deletion; lists hide them. */
let pendingKeys: ReadonlySet<string> = new Set()
const listeners = new Set<() => void>()
/** The deletions that can still be undone, by key. They belong to no page, so that they outlive the page that asked. */
const undoableDeletes = new Map<string, () => void>()

// Leaving the dashboard confirms all deletions that wait, whichever page is open by then.
addEventListener('pagehide', () => {
  for (const deleteNow of undoableDeletes.values()) deleteNow()
})

function setPending(key: string, add: boolean) {
  const next = new Set(pendingKeys)
  if (add) next.add(key)
  else next.delete(key)
  pendingKeys = next
  for (const listener of listeners) listener()
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** The keys (`UndoableDelete.key`) of the items that wait for their deletion. */
export const usePendingDeletions = () => useSyncExternalStore(subscribe, () => pendingKeys)

export interface UndoableDelete {
  /** Identifies the item, such as `link 12`. */
  key: string
  /** The text of the toast, such as `Link deleted`. */
  message: string
  /** Deletes the item on the server; must continue after the page is closed (`keepalive`). */
  remove: () => Promise<unknown>
  /** Keys of the queries to load again after the deletion. */
  invalidates: readonly unknown[][]
}

export function useUndoableDelete() {
  const client = useQueryClient()
  return useCallback((deletion: UndoableDelete) => deleteUndoably(client, deletion), [client])
}

function deleteUndoably(client: QueryClient, { key, message, remove, invalidates }: UndoableDelete) {
  if (undoableDeletes.has(key)) return
  setPending(key, true)
  const deleteNow = async () => {
    // The toast's end comes here too, after Undo or after the page was left.
    if (!undoableDeletes.delete(key)) return
    closeToast()
    try {
      await remove()
      await Promise.all(invalidates.map((queryKey) => client.invalidateQueries({ queryKey })))
    } catch (error) {
      toastError(error, 'Couldn’t delete')
    } finally {
      setPending(key, false)
    }
  }
  undoableDeletes.set(key, deleteNow)
  const closeToast = toast(message, {
    forMs: UNDO_MS,
    onClose: () => void deleteNow(),
    action: {
      label: 'Undo',
      run() {
        undoableDeletes.delete(key)
        setPending(key, false)
      },
    },
  })
}
