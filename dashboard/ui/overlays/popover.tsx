// A small window at a button, for content that needs more than a menu.

import { Popover as Base } from '@base-ui/react/popover'
import type { ReactElement, ReactNode } from 'react'
import { classNames } from '../class-names.ts'

/** @param trigger the button that opens the window. @param label the accessible name of the window */
export function Popover({
  trigger,
  label,
  open,
  onOpenChange,
  align = 'start',
  className,
  children,
}: {
  trigger: ReactElement<Record<string, unknown>>
  label: string
  open: boolean
  onOpenChange: (open: boolean) => void
  align?: 'start' | 'end'
  className?: string
  children: ReactNode
}) {
  return (
    <Base.Root open={open} onOpenChange={onOpenChange}>
      <Base.Trigger render={trigger} />
      <Base.Portal>
        <Base.Positioner className="z-40" sideOffset={6} align={align} collisionPadding={8}>
          <Base.Popup
            aria-label={label}
            className={classNames(
              'appear max-h-[min(36rem,var(--available-height))] max-w-[calc(100vw-1rem)] overflow-y-auto rounded-xl border border-line bg-card shadow-lg outline-none',
              className,
            )}
          >
            {children}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}
