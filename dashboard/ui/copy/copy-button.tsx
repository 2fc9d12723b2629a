// Copies a text, and says that it did.

import { Check, Copy } from 'lucide-react'
import { useEffect, useState } from 'react'
import { Button, IconButton } from '../button.tsx'
import { toastError } from '../overlays/toast.tsx'

const COPIED_MS = 1500

/** With `children` a button with words, else an icon. @param label what is copied, such as "Copy short link" */
export function CopyButton({ text, label, children }: { text: string; label: string; children?: string }) {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), COPIED_MS)
    return () => clearTimeout(timer)
  }, [copied])
  const copy = () =>
    copyText(text).then(
      () => setCopied(true),
      (error) => toastError(error, 'Not copied'),
    )
  const icon = copied ? <Check size={15} className="text-accent" /> : <Copy size={15} />
  return (
    <>
      {children ? (
        <Button size="small" icon={icon} onClick={copy}>
          {copied ? 'Copied' : children}
        </Button>
      ) : (
        <IconButton label={label} onClick={copy}>
          {icon}
        </IconButton>
      )}
      <span role="status" className="sr-only">
        {copied ? 'Copied' : ''}
      </span>
    </>
  )
}

/** Also where the page is not on https and the clipboard is closed to it. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text)
  const area = document.createElement('textarea')
  area.value = text
  area.readOnly = true
  area.className = 'fixed opacity-0'
  // In the window that is open: outside it nothing can be focused.
  const place = document.activeElement?.closest('[role=dialog]') ?? document.body
  place.append(area)
  area.select()
  const done = document.execCommand('copy')
  area.remove()
  if (!done) throw new Error('Select the text and copy it by hand.')
}
