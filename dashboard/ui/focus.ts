// Gives the focus of keyboards and screen readers a place that makes sense, when the element that had it is gone.

/** A selector, or what finds the element. */
type FocusTarget = string | (() => HTMLElement | null | undefined)

const WAIT_MS = 2000

/** The second frame comes after dialogs and menus have given back the focus, where they can. */
const afterDialogs = (run: () => void) => requestAnimationFrame(() => requestAnimationFrame(run))

function focusFirst(targets: FocusTarget[]) {
  for (const target of targets) {
    const found = typeof target === 'string' ? document.querySelector<HTMLElement>(target) : target()
    found?.focus({ preventScroll: typeof target !== 'string' })
    if (found) return
  }
}

/** Focuses the first element that is found, once the page is drawn. @param targets the best place first */
export const focusNext = (...targets: FocusTarget[]) => afterDialogs(() => focusFirst(targets))

/**
 * As `focusNext`, but only when no element has the focus by then: the next row after a deletion, the list after a bar
 * has closed. Waits a little for the focused element to leave the page, and for a closing menu or dialog. Stops when
 * the person moves the focus.
 */
export function focusIfLost(...targets: FocusTarget[]): void {
  const end = performance.now() + WAIT_MS
  const leaving = document.activeElement
  const check = () => {
    const active = document.activeElement
    if (active === null || active === document.body || !active.isConnected) return focusFirst(targets)
    const isClosing = active.closest('[role=menu], [role=dialog]') !== null
    if ((isClosing || active === leaving) && performance.now() < end) requestAnimationFrame(check)
  }
  afterDialogs(check)
}
