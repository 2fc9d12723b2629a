// Reports whether the window is wider than a phone's, for numbers that depend on it. Styles use media queries.

import { useSyncExternalStore } from 'react'

const query = matchMedia('(min-width: 40rem)')

const subscribe = (listener: () => void) => {
  query.addEventListener('change', listener)
  return () => query.removeEventListener('change', listener)
}

export const useIsWide = () => useSyncExternalStore(subscribe, () => query.matches)
