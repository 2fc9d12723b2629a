// Makes a whole row open what its main link opens. Buttons, links and boxes in the row keep their own clicks, and text
// in the row can be selected.

import type { MouseEvent } from 'react'

const OWN_CLICKS = 'a, button, input, label, select, textarea, summary'

const MIDDLE_BUTTON = 1

/** @param href where a click with Ctrl, ⌘ or the middle button leads, in a new tab */
export function toRowClicks(href: string, open: () => void) {
  const openTab = () => window.open(href, '_blank', 'noopener')
  return {
    onClick(event: MouseEvent<HTMLElement>) {
      if (!isOnRow(event) || hasSelection(event.currentTarget)) return
      if (event.ctrlKey || event.metaKey || event.shiftKey) openTab()
      else open()
    },
    onAuxClick(event: MouseEvent<HTMLElement>) {
      if (event.button === MIDDLE_BUTTON && isOnRow(event)) openTab()
    },
    onMouseDown(event: MouseEvent<HTMLElement>) {
      // Without this, the middle button begins to scroll.
      if (event.button === MIDDLE_BUTTON && isOnRow(event)) event.preventDefault()
    },
  }
}

/** A click in a menu of the row reaches the row too, although the menu is elsewhere in the page. */
const isOnRow = ({ target, currentTarget, defaultPrevented }: MouseEvent<HTMLElement>) =>
  !defaultPrevented &&
  target instanceof Element &&
  currentTarget.contains(target) &&
  target.closest(OWN_CLICKS) === null

function hasSelection(row: HTMLElement): boolean {
  const selection = getSelection()
  return selection?.type === 'Range' && selection.containsNode(row, true)
}

/** A click that the browser should answer itself: in a new tab, a new window or as a download. */
export const isForBrowser = ({ button, metaKey, ctrlKey, shiftKey, altKey }: MouseEvent) =>
  button !== 0 || metaKey || ctrlKey || shiftKey || altKey
