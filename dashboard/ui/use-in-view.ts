// Whether an element is on the screen or near it, so that what is far below need not be asked for yet.

import { useEffect, useRef, useState } from 'react'

const NEAR = '300px'

export function useInView<E extends HTMLElement>() {
  const ref = useRef<E>(null)
  const [inView, setInView] = useState(false)
  useEffect(() => {
    const element = ref.current
    if (!element) return
    const observer = new IntersectionObserver(
      (entries) => setInView(entries.at(-1)?.isIntersecting ?? false),
      { rootMargin: NEAR },
    )
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return { ref, inView }
}
