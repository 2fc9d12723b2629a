// A text, once typing has paused.

import { useEffect, useState } from 'react'

export function useDebounced(text: string, afterMs: number): string {
  const [debounced, setDebounced] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(text), afterMs)
    return () => clearTimeout(timer)
  }, [text, afterMs])
  return debounced
}
