// Gives the keyboard a place to go on from, after what had the focus has left the page.

/** The second frame comes after dialogs and menus have given back the focus. */
const afterDialogs = (run: () => void) => requestAnimationFrame(() => requestAnimationFrame(run))

function focusFirst(selectors: string[]) {
  for (const selector of selectors) {
    const found = document.querySelector<HTMLElement>(selector)
    found?.focus()
    if (found) return
  }
}

/** Focuses the first element that is found, once the page is drawn. @param selectors the best place first */
export const focusNext = (...selectors: string[]) => afterDialogs(() => focusFirst(selectors))

/** As `focusNext`, where nothing has the focus by then. */
export const focusIfLost = (...selectors: string[]) =>
  afterDialogs(() => {
    if (document.activeElement === null || document.activeElement === document.body) focusFirst(selectors)
  })
