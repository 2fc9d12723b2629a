// Deleting that can be taken back: what is deleted disappears at once, and is deleted when nobody has said Undo.

import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useSyncExternalStore } from 'react'
import { toast, toastError } from './toast.tsx'

const UNDO_MS = 6000

/** Keys of what is about to go; lists leave it out. */
let leaving: ReadonlySet<string> = new Set()
const listeners = new Set<() => void>()
const running = new Map<string, () => void>()

function change(key: string, add: boolean) {
  const next = new Set(leaving)
  if (add) next.add(key)
  else next.delete(key)
  leaving = next
  for (const listener of listeners) listener()
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** What is about to go, as `key` below. */
export const useLeaving = () => useSyncExternalStore(subscribe, () => leaving)

export interface Removal {
  /** Such as `link 12`. */
  key: string
  /** `Link deleted` */
  said: string
  /** Must go on when the page is left (`keepalive`). */
  remove: () => Promise<unknown>
  /** Queries that have another answer then. */
  changes: readonly unknown[][]
}

export function useUndoable() {
  const client = useQueryClient()
  useEffect(() => {
    // Who leaves the page has not said Undo.
    const finish = () => {
      for (const now of [...running.values()]) now()
    }
    addEventListener('pagehide', finish)
    return () => removeEventListener('pagehide', finish)
  }, [])
  return ({ key, said, remove, changes }: Removal) => {
    if (running.has(key)) return
    change(key, true)
    const timer = setTimeout(() => run(), UNDO_MS)
    const close = toast(said, {
      forMs: UNDO_MS,
      action: {
        label: 'Undo',
        run() {
          clearTimeout(timer)
          running.delete(key)
          change(key, false)
        },
      },
    })
    const run = async () => {
      clearTimeout(timer)
      running.delete(key)
      close()
      try {
        await remove()
        await Promise.all(changes.map((queryKey) => client.invalidateQueries({ queryKey })))
      } catch (error) {
        toastError(error, 'Not deleted')
      } finally {
        change(key, false)
      }
    }
    running.set(key, run)
  }
}
