// Single-key shortcuts. They work while the focus is in no text field, and "?" lists them.

import { useEffect } from 'react'

export interface Shortcut {
  /** A value of `KeyboardEvent.key`, or two for a sequence (`g l`). */
  keys: string
  label: string
  /** The shortcut changes something: it does nothing where nothing may be changed. */
  changes?: boolean
  run: () => void
}

/** The palette's shortcut in the notation of the viewer's system. */
export const PALETTE_KEYS = /Mac|iPhone|iPad/.test(navigator.platform) ? '⌘ K' : 'Ctrl K'

const active = new Set<Shortcut[]>()

let isReadOnly = false

/** Turns off the shortcuts that change something, and hides them from the list. */
export const setReadOnlyShortcuts = (readOnly: boolean) => {
  isReadOnly = readOnly
}

/** The shortcuts of the current page. */
export const listActiveShortcuts = () => [...active].flat().filter(({ changes }) => !(changes && isReadOnly))

/**
 * Registers shortcuts while the component is mounted.
 * @param shortcuts must be the same list between renders (`useMemo`)
 */
export function useShortcuts(shortcuts: Shortcut[]) {
  useEffect(() => {
    active.add(shortcuts)
    return () => {
      active.delete(shortcuts)
    }
  }, [shortcuts])
}

const SEQUENCE_MS = 1000
let previous = { key: '', at: 0 }

const isTyping = (target: EventTarget | null) =>
  target instanceof Element &&
  target.closest('input:not([type=checkbox]), textarea, select, [contenteditable], [role=menu]') !== null

/** Handles every key press of the page; the shell registers it. */
export function handleShortcut(event: KeyboardEvent) {
  const modified = event.ctrlKey || event.metaKey || event.altKey
  // Toasts have the dialog role too, but shortcuts still work beside them.
  const openDialog = document.querySelector(
    ':is([role=dialog], [role=alertdialog]):not([data-toast], [data-ending-style])',
  )
  if (modified || event.defaultPrevented || isTyping(event.target) || openDialog) return
  const pair = event.timeStamp - previous.at < SEQUENCE_MS ? `${previous.key} ${event.key}` : ''
  const shortcuts = listActiveShortcuts()
  // A sequence wins: `g a` opens a page even where `a` alone is a shortcut.
  const shortcut =
    shortcuts.findLast(({ keys }) => keys === pair) ?? shortcuts.findLast(({ keys }) => keys === event.key)
  previous = { key: event.key, at: event.timeStamp }
  if (!shortcut) return
  event.preventDefault()
  shortcut.run()
}
