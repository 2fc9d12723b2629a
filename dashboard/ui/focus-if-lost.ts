// Gives the keyboard a place to go on from, after what had the focus has left the page.

/**
 * Waits for the page to be drawn. Where nothing has the focus then, it focuses the first element that is found.
 * @param selectors the best place first
 */
export function focusIfLost(...selectors: string[]): void {
  // The second frame comes after dialogs and menus have given back the focus.
  requestAnimationFrame(() =>
    requestAnimationFrame(() => {
      if (document.activeElement !== null && document.activeElement !== document.body) return
      for (const selector of selectors) {
        const found = document.querySelector<HTMLElement>(selector)
        found?.focus()
        if (found) return
      }
    }),
  )
}
