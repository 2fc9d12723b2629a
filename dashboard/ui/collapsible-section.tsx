// A section of a form that opens and closes. A closed section shows a summary of its settings.

import { ChevronRight } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { classNames } from './class-names.ts'

interface Props {
  title: ReactNode
  /** The settings in a few words, such as `2 countries`. */
  summary?: string | false
  /** A field inside has an error, so that the section opens. */
  hasError?: boolean
  startsOpen?: boolean
  onOpenChange?: (isOpen: boolean) => void
  children: ReactNode
}

export function CollapsibleSection({
  title,
  summary,
  hasError = false,
  startsOpen = false,
  onOpenChange,
  children,
}: Props) {
  const [open, setOpen] = useState(startsOpen)
  const shown = open || hasError
  return (
    <details
      open={shown}
      onToggle={({ currentTarget }) => {
        setOpen(currentTarget.open)
        onOpenChange?.(currentTarget.open)
      }}
      className="border-t border-line"
    >
      <summary className="-mx-2 flex list-none items-center gap-2 rounded-lg px-2 py-3 hover:bg-hover [&::-webkit-details-marker]:hidden">
        <ChevronRight
          size={16}
          className={classNames('shrink-0 text-soft', shown && 'rotate-90')}
          aria-hidden
        />
        <h3 className="font-medium whitespace-nowrap">{title}</h3>
        {summary && <span className="ml-auto min-w-0 truncate text-sm text-soft">{summary}</span>}
      </summary>
      <div className="grid grid-cols-1 gap-4 pt-1 pb-5">{children}</div>
    </details>
  )
}
