// Tells whether the window is wider than a phone's, where a number depends on it and not only a style.

import { useSyncExternalStore } from 'react'

const query = matchMedia('(min-width: 40rem)')

const subscribe = (listener: () => void) => {
  query.addEventListener('change', listener)
  return () => query.removeEventListener('change', listener)
}

export const useIsWide = () => useSyncExternalStore(subscribe, () => query.matches)
