// Deleting that can be taken back: what is deleted disappears at once, and is deleted when nobody has said Undo.

import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useSyncExternalStore } from 'react'
import { toast, toastError } from './toast.tsx'

const UNDO_MS = 6000

/** Keys of what is about to go; lists leave it out. */
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

/** What is about to go, as `key` below. */
export const usePendingDeletions = () => useSyncExternalStore(subscribe, () => pendingKeys)

export interface UndoableDelete {
  /** Such as `link 12`. */
  key: string
  /** `Link deleted` */
  message: string
  /** Must go on when the page is left (`keepalive`). */
  remove: () => Promise<unknown>
  /** Queries that have another answer then. */
  invalidates: readonly unknown[][]
}

export function useUndoableDelete() {
  const client = useQueryClient()
  useEffect(() => {
    // Who leaves the page has not said Undo.
    const finish = () => {
      for (const now of [...pendingDeletes.values()]) now()
    }
    addEventListener('pagehide', finish)
    return () => removeEventListener('pagehide', finish)
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
        toastError(error, 'Not deleted')
      } finally {
        setPending(key, false)
      }
    }
    pendingDeletes.set(key, run)
  }
}
