// Deletes with Undo: an item disappears from the screen at once, and is deleted on the server when the toast closes.

import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useSyncExternalStore } from 'react'
import { toast, toastError } from './toast.tsx'

const UNDO_MS = 6000

/** Keys of the items that wait for their deletion; lists hide them. */
let pendingKeys: ReadonlySet<string> = new Set()
const listeners = new Set<() => void>()
const pendingDeletes = new Map<string, () => void>()

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
  useEffect(() => {
    // Leaving the page confirms all deletions that wait.
    const flush = () => {
      for (const deleteNow of [...pendingDeletes.values()]) deleteNow()
    }
    addEventListener('pagehide', flush)
    return () => removeEventListener('pagehide', flush)
  }, [])
  return ({ key, message, remove, invalidates }: UndoableDelete) => {
    if (pendingDeletes.has(key)) return
    setPending(key, true)
    const timer = setTimeout(() => run(), UNDO_MS)
    const close = toast(message, {
      forMs: UNDO_MS,
      action: {
        label: 'Undo',
        run() {
          clearTimeout(timer)
          pendingDeletes.delete(key)
          setPending(key, false)
        },
      },
    })
    const run = async () => {
      clearTimeout(timer)
      pendingDeletes.delete(key)
      close()
      try {
        await remove()
        await Promise.all(invalidates.map((queryKey) => client.invalidateQueries({ queryKey })))
      } catch (error) {
        toastError(error, 'Could not delete')
      } finally {
        setPending(key, false)
      }
    }
    pendingDeletes.set(key, run)
  }
}
