// The text of a search field: shown at once, and applied to the search when typing pauses.

import { useEffect, useRef, useState } from 'react'

interface Options {
  afterMs: number
  /** Turns the typed text into the search; trims it by default. */
  clean?: (text: string) => string
}

const trimmed = (text: string) => text.trim()

/**
 * @param current the current search. When something else changes it, the field follows.
 * @param apply sets the search
 */
export function useDebouncedText(
  current: string,
  apply: (text: string) => void,
  { afterMs, clean = trimmed }: Options,
): readonly [text: string, setText: (text: string) => void] {
  const [text, setText] = useState(current)
  const applied = useRef(current)
  const latest = useRef({ apply, clean })
  latest.current = { apply, clean }
  useEffect(() => {
    // A link, the back button or "Clear filters" changed the search.
    if (current === applied.current) return
    applied.current = current
    setText(current)
  }, [current])
  useEffect(() => {
    const search = latest.current.clean(text)
    if (search === applied.current) return
    const timer = setTimeout(() => {
      applied.current = search
      latest.current.apply(search)
    }, afterMs)
    return () => clearTimeout(timer)
  }, [text, afterMs])
  return [text, setText]
}
