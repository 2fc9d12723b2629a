// Shortcuts of the page. They work while the focus is in no text field, and "?" lists them.

import { useEffect } from 'react'

export interface Shortcut {
  /**
   * A value of `KeyboardEvent.key`, or two for a sequence (`g l`). `Shift+` before an arrow and `Mod+` before a letter
   * (⌘ or Ctrl) are part of the key.
   */
  keys: string
  label: string
  /** The shortcut changes something: it is off in view-only mode. */
  changes?: boolean
  /** While this is false, the keys keep their usual effect. */
  isActive?: () => boolean
  run: () => void
}

const isApple = /Mac|iPhone|iPad/.test(navigator.platform)

/** The palette's shortcut in the notation of the viewer's system. */
export const PALETTE_KEYS = isApple ? '⌘ K' : 'Ctrl K'

const KEY_NAMES: Record<string, string> = {
  Mod: isApple ? '⌘' : 'Ctrl',
  Shift: '⇧',
  ArrowDown: '↓',
  ArrowUp: '↑',
}

/** The keys one by one, as they are written on a keyboard. */
export const toKeyNames = (keys: string) => keys.split(/[ +]/).map((key) => KEY_NAMES[key] ?? key)

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
  target.closest(
    'input:not([type=checkbox]), textarea, [contenteditable], [role=menu], [role=combobox], [role=listbox]',
  ) !== null

/** The key with its modifiers, in the notation of `Shortcut.keys`; undefined for a combination that no shortcut has. */
function toKeys({ key, ctrlKey, metaKey, altKey, shiftKey }: KeyboardEvent): string | undefined {
  if (altKey) return undefined
  if (ctrlKey || metaKey) return shiftKey ? undefined : `Mod+${key.toLowerCase()}`
  return shiftKey && key.startsWith('Arrow') ? `Shift+${key}` : key
}

/** Whether the event belongs to a field or a dialog. Toasts have the dialog role too, but shortcuts work beside them. */
export const isTaken = (event: Event) =>
  event.defaultPrevented ||
  isTyping(event.target) ||
  document.querySelector(':is([role=dialog], [role=alertdialog]):not([data-toast], [data-ending-style])') !==
    null

/** Handles every key press of the page; the shell registers it. */
export function handleShortcut(event: KeyboardEvent) {
  const keys = toKeys(event)
  if (keys === undefined || isTaken(event)) return
  const sequence = event.timeStamp - previous.at < SEQUENCE_MS ? `${previous.key} ${keys}` : ''
  const shortcuts = listActiveShortcuts().filter(({ isActive }) => isActive?.() ?? true)
  // A sequence wins: `g a` opens a page even where `a` alone is a shortcut.
  const shortcut =
    shortcuts.findLast((each) => each.keys === sequence) ?? shortcuts.findLast((each) => each.keys === keys)
  previous = { key: keys, at: event.timeStamp }
  if (!shortcut) return
  event.preventDefault()
  shortcut.run()
}
