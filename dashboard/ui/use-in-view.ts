// Reports whether an element is on the screen or near it, so that content far below loads later.

import { useEffect, useRef, useState } from 'react'

const MARGIN = '300px'

export function useInView<E extends HTMLElement>() {
  const ref = useRef<E>(null)
  const [inView, setInView] = useState(false)
  useEffect(() => {
    const element = ref.current
    if (!element) return
    const observer = new IntersectionObserver(
      (entries) => setInView(entries.at(-1)?.isIntersecting ?? false),
      { rootMargin: MARGIN },
    )
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return { ref, inView }
}
