// Keeps the keyboard's place in the settings: when a dialog closes, or a row goes away, the focus returns to the button
// that was pressed, else to the row that follows.

const FOCUSABLE = 'button:not(:disabled), a[href], input:not(:disabled), select:not(:disabled)'
const BUSY = '[aria-busy=true]'
/** Toasts have the same role. */
const DIALOG = '[role=dialog]:not([data-toast]), [role=alertdialog]:not([data-toast]), dialog'

interface Place {
  element: HTMLElement
  card: Element | null
  list: Element | null
  /** The row in the list, and the control in the row. */
  row: number
  control: number
}

const listControls = (root: Element) => [...root.querySelectorAll<HTMLElement>(FOCUSABLE)]

function toPlace(element: HTMLElement): Place {
  const row = element.closest('li')
  const list = row?.parentElement ?? null
  return {
    element,
    card: element.closest('section'),
    list,
    row: list && row ? [...list.children].indexOf(row) : -1,
    control: row ? listControls(row).indexOf(element) : -1,
  }
}

/** @returns undefined while a button is busy: what becomes of its row is not known yet */
function findNext(
  container: Element,
  { element, card, list, row, control }: Place,
): HTMLElement | null | undefined {
  if (element.isConnected && element.matches(FOCUSABLE)) return element
  if (element.isConnected && element.matches(BUSY)) return undefined
  const next = list?.isConnected ? list.children[Math.min(row, list.children.length - 1)] : undefined
  const controls = next ? listControls(next) : []
  const following = controls[control] ?? controls.at(-1)
  if (following || next?.querySelector(BUSY)) return following
  return (
    (card?.isConnected && listControls(card)[0]) ||
    listControls(container)[0] ||
    document.getElementById('main')
  )
}

/** A ref of the element around all cards. */
export function keepPlace(container: HTMLElement | null) {
  if (!container) return
  let place: Place | undefined
  let frame = 0
  const remember = ({ target }: Event) => {
    if (target instanceof HTMLElement) place = toPlace(target)
  }
  /** A click beside every control clears the focus on purpose. */
  const release = ({ target }: Event) => {
    if (target instanceof Element && !target.closest(`${FOCUSABLE}, label, ${DIALOG}`)) place = undefined
  }
  const restore = () => {
    const isLost = document.activeElement === document.body || document.activeElement === null
    if (!place || !isLost || document.querySelector(DIALOG)) return
    findNext(container, place)?.focus({ preventScroll: true })
  }
  // A dialog gives the focus back in the frame after it has gone.
  const observer = new MutationObserver(() => {
    cancelAnimationFrame(frame)
    frame = requestAnimationFrame(() => {
      frame = requestAnimationFrame(restore)
    })
  })
  observer.observe(document.body, { childList: true, subtree: true, attributeFilter: ['disabled'] })
  container.addEventListener('focusin', remember)
  document.addEventListener('pointerdown', release)
  return () => {
    cancelAnimationFrame(frame)
    observer.disconnect()
    container.removeEventListener('focusin', remember)
    document.removeEventListener('pointerdown', release)
  }
}
