// Single keys that do something on a page, while nobody is typing. All of them are listed under "?".

import { useEffect } from 'react'

export interface Shortcut {
  /** As `KeyboardEvent.key` has it; `g l` is one after the other. */
  keys: string
  label: string
  run: () => void
}

/** As the keyboard of this machine has it. */
export const PALETTE_KEYS = /Mac|iPhone|iPad/.test(navigator.platform) ? '⌘ K' : 'Ctrl K'

const active = new Set<Shortcut[]>()

/** The ones that work at the moment, for the list. */
export const listActiveShortcuts = () => [...active].flat()

/** Give a list that stays the same between renders (`useMemo`). */
export function useShortcuts(shortcuts: Shortcut[]) {
  useEffect(() => {
    active.add(shortcuts)
    return () => {
      active.delete(shortcuts)
    }
  }, [shortcuts])
}

const SEQUENCE_MS = 1000
let first = { key: '', at: 0 }

const isTyping = (target: EventTarget | null) =>
  target instanceof Element &&
  target.closest('input:not([type=checkbox]), textarea, select, [contenteditable], [role=menu]') !== null

/** The one listener; the shell adds it. */
export function handleShortcut(event: KeyboardEvent) {
  const modified = event.ctrlKey || event.metaKey || event.altKey
  // Toasts have the role of a dialog too, and are in nobody's way.
  const open = document.querySelector(
    ':is([role=dialog], [role=alertdialog]):not([data-toast], [data-ending-style])',
  )
  if (modified || event.defaultPrevented || isTyping(event.target) || open) return
  const pair = event.timeStamp - first.at < SEQUENCE_MS ? `${first.key} ${event.key}` : ''
  const now = listActiveShortcuts()
  // The pair first: `g a` goes to a place also where `a` alone does something on the page.
  const found = now.findLast(({ keys }) => keys === pair) ?? now.findLast(({ keys }) => keys === event.key)
  first = { key: event.key, at: event.timeStamp }
  if (!found) return
  event.preventDefault()
  found.run()
}
