// Keeps the focus of keyboards and screen readers in a place that makes sense when the element that had it is gone.

const WAIT_MS = 2000

/**
 * Focuses an element when nothing has the focus: after a deletion the row that follows, after a bar has closed the list.
 * Waits a little for what has the focus now to leave the page, and for a menu or dialog that is closing. Stops when the
 * person moves the focus.
 */
export function keepFocus(find: () => HTMLElement | null | undefined): void {
  const end = performance.now() + WAIT_MS
  const leaving = document.activeElement
  const check = () => {
    const active = document.activeElement
    if (active === null || active === document.body || !active.isConnected) {
      find()?.focus({ preventScroll: true })
      return
    }
    const isClosing = active.closest('[role=menu], [role=dialog]') !== null
    if ((isClosing || active === leaving) && performance.now() < end) requestAnimationFrame(check)
  }
  // A dialog that closes gives the focus back in the next frame, where it can.
  requestAnimationFrame(() => requestAnimationFrame(check))
}
