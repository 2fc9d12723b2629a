// Ids of the inbox's elements that shortcuts and links move the focus to.

const ROW_ID_PREFIX = 'submission-'

export const toRowId = (id: number) => `${ROW_ID_PREFIX}${id}`
export const LIST_ID = 'inbox-list'
export const SEARCH_ID = 'inbox-search'
export const READER_ID = 'inbox-reader'
export const NOTES_ID = 'inbox-notes'
export const REPLY_ID = 'inbox-reply'
export const ASSIGNEE_ID = 'inbox-assignee'
export const STAGE_ID = 'inbox-stage'

/** Focuses the control in an element. */
export const focusControl = (id: string) =>
  document.getElementById(id)?.querySelector<HTMLElement>('select, input, button')?.focus()

/** The submission whose row contains the element. */
export function findRowSubmission(element: Element | null): number | undefined {
  const row = element?.closest('li')?.querySelector(`a[id^=${ROW_ID_PREFIX}]`)
  return row ? Number(row.id.slice(ROW_ID_PREFIX.length)) : undefined
}

/** Focuses a row and shows it. @returns false when the list does not have the row, or is hidden on a phone */
export function focusRow(id: number): boolean {
  const row = document.getElementById(toRowId(id))
  if (!row || row.getClientRects().length === 0) return false
  row.focus({ preventScroll: true })
  row.scrollIntoView({ block: 'nearest' })
  return true
}

/** True when the focused element is gone or hidden. */
export const isFocusLost = () =>
  document.activeElement === null ||
  document.activeElement === document.body ||
  document.activeElement.getClientRects().length === 0
