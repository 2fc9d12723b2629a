// A field that asks while one types: what is typed stands in it at once, and is asked when the hand rests.

import { useEffect, useRef, useState } from 'react'

interface Options {
  afterMs: number
  /** What of the text is asked. */
  clean?: (text: string) => string
}

const trimmed = (text: string) => text.trim()

/** @param asked what is asked at the moment: when something else changes it, the field follows */
export function useDebouncedText(
  asked: string,
  ask: (text: string) => void,
  { afterMs, clean = trimmed }: Options,
): readonly [text: string, setText: (text: string) => void] {
  const [text, setText] = useState(asked)
  const last = useRef(asked)
  const now = useRef({ ask, clean })
  now.current = { ask, clean }
  useEffect(() => {
    // Cleared, or gone back, by something else than typing.
    if (asked === last.current) return
    last.current = asked
    setText(asked)
  }, [asked])
  useEffect(() => {
    const wanted = now.current.clean(text)
    if (wanted === last.current) return
    const timer = setTimeout(() => {
      last.current = wanted
      now.current.ask(wanted)
    }, afterMs)
    return () => clearTimeout(timer)
  }, [text, afterMs])
  return [text, setText]
}
