// A button that copies a text and confirms that it did.

import { Check, Copy } from 'lucide-react'
import { useEffect, useState } from 'react'
import { Button, IconButton } from '../button.tsx'
import { toastError } from '../overlays/toast.tsx'

const COPIED_MS = 1500

/** A button with text where `children` is given, otherwise an icon. @param label such as "Copy short link" */
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
      (error) => toastError(error, 'Couldn’t copy'),
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

/** Also works without https, where browsers offer no clipboard. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text)
  const area = document.createElement('textarea')
  area.value = text
  area.readOnly = true
  area.className = 'fixed opacity-0'
  // Inside an open dialog: nothing outside of it can get the focus.
  const container = document.activeElement?.closest('[role=dialog]') ?? document.body
  container.append(area)
  area.select()
  const copied = document.execCommand('copy')
  area.remove()
  if (!copied) throw new Error('Select the text and copy it manually.')
}
