// Shows the first submission beside the list when the inbox opens on a wide screen. It is not in the address and stays unread
// until the person does something in it: the server showed it, and nobody has looked yet.

import { useRef, useState, useSyncExternalStore } from 'react'
import type { Submission } from '../../../api/submissions.ts'

const WIDE = matchMedia('(width >= 64rem)')

const subscribeToWidth = (update: () => void) => {
  WIDE.addEventListener('change', update)
  return () => WIDE.removeEventListener('change', update)
}

interface Options {
  rows: Submission[]
  /** The open submission, which the address has. */
  open: string | undefined
  /** Of the filter. */
  key: string
}

/** `dismiss` keeps the reader empty until another list is shown. */
export function useFirstShown({ rows, open, key }: Options): {
  shown: string | undefined
  dismiss: () => void
} {
  const isWide = useSyncExternalStore(subscribeToWidth, () => WIDE.matches)
  const [dismissedKey, setDismissedKey] = useState<string>()
  const first = useRef<{ key: string; id?: number; hasOpened?: boolean }>({ key })
  if (first.current.key !== key) first.current = { key }
  // New submissions come in above it, and it stays.
  if (!rows.some(({ id }) => id === first.current.id)) first.current.id = rows[0]?.id
  // The person has begun to read: closing a submission shows the empty reader.
  if (open !== undefined) first.current.hasOpened = true
  const { id, hasOpened } = first.current
  const isShown = isWide && id !== undefined && !hasOpened && dismissedKey !== key
  return { shown: isShown ? String(id) : undefined, dismiss: () => setDismissedKey(key) }
}
