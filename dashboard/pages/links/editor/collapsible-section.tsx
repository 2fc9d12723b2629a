// A part of the drawer that opens and closes; closed, it says in a few words what is set inside.

import { ChevronRight } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { classNames } from '../../../ui/class-names.ts'

interface Props {
  title: string
  /** What is set, such as "2 countries". */
  set?: string | false
  /** Something inside is wrong and must be seen. */
  wrong?: boolean
  children: ReactNode
}

export function CollapsibleSection({ title, set, wrong = false, children }: Props) {
  const [open, setOpen] = useState(false)
  const shown = open || wrong
  return (
    <details
      open={shown}
      onToggle={(event) => setOpen(event.currentTarget.open)}
      className="border-t border-line"
    >
      <summary className="-mx-2 flex list-none items-center gap-2 rounded-lg px-2 py-3 hover:bg-hover [&::-webkit-details-marker]:hidden">
        <ChevronRight
          size={16}
          className={classNames('shrink-0 text-soft', shown && 'rotate-90')}
          aria-hidden
        />
        <h3 className="font-medium whitespace-nowrap">{title}</h3>
        {set && <span className="ml-auto min-w-0 truncate text-sm text-soft">{set}</span>}
      </summary>
      <div className="grid grid-cols-1 gap-4 pt-1 pb-5">{children}</div>
    </details>
  )
}
