// A frame that shows the HTML of a form as it will look on a page. Nothing in it runs, and it sends nothing.

import { useEffect, useRef } from 'react'
import { drawMarkup } from './draw-markup.ts'

/** The margins of the page in the frame, and the frame's borders. */
const EDGES_PX = 50

const AROUND =
  'html { font: 16px/1.5 system-ui, sans-serif; color: #1c2421; background: #fff } body { margin: 24px }'

export function PreviewFrame({ html, title }: { html: string; title: string }) {
  const frame = useRef<HTMLIFrameElement>(null)
  useEffect(() => {
    const element = frame.current
    if (!element) return
    const sizes = new ResizeObserver(([entry]) => {
      if (entry) element.style.height = `${entry.target.getBoundingClientRect().height + EDGES_PX}px`
    })
    const draw = () => {
      const page = element.contentDocument
      if (!page) return
      drawMarkup(page, html, AROUND)
      sizes.disconnect()
      sizes.observe(page.body)
    }
    draw()
    // Firefox replaces the empty document once it has loaded.
    element.addEventListener('load', draw)
    return () => {
      sizes.disconnect()
      element.removeEventListener('load', draw)
    }
  }, [html])
  return (
    <iframe
      ref={frame}
      title={title}
      // Without scripts and forms; the dashboard itself draws into it.
      sandbox="allow-same-origin"
      className="block min-h-40 w-full rounded-xl border border-line bg-white"
    />
  )
}
