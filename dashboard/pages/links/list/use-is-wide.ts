// Whether there is room for more than a phone's width, where a number must say it and not a class.

import { useSyncExternalStore } from 'react'

const wide = matchMedia('(min-width: 40rem)')

const subscribe = (listener: () => void) => {
  wide.addEventListener('change', listener)
  return () => wide.removeEventListener('change', listener)
}

export const useIsWide = () => useSyncExternalStore(subscribe, () => wide.matches)
