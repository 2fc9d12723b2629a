// A button that opens a list of actions.

import { Menu as Base } from '@base-ui/react/menu'
import type { ReactElement, ReactNode } from 'react'
import { classNames } from '../class-names.ts'

/** @param trigger the button that opens the menu */
export function Menu({
  trigger,
  children,
  align = 'end',
}: {
  trigger: ReactElement<Record<string, unknown>>
  children: ReactNode
  align?: 'start' | 'end'
}) {
  return (
    <Base.Root modal={false}>
      <Base.Trigger render={trigger} />
      <Base.Portal>
        <Base.Positioner className="z-50" sideOffset={4} align={align}>
          <Base.Popup className="appear min-w-44 max-w-80 rounded-xl border border-line bg-card p-1 shadow-lg outline-none">
            {children}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}

const ITEM =
  'flex w-full items-center gap-2.5 rounded-lg px-2.5 py-1.5 text-left outline-none data-highlighted:bg-hover data-disabled:opacity-55'

interface ItemProps {
  icon?: ReactNode
  children: ReactNode
  danger?: boolean
  disabled?: boolean
  onSelect?: () => void
  /** A link in place of a button. */
  render?: ReactElement<Record<string, unknown>>
}

export function MenuItem({ icon, children, danger, disabled, onSelect, render }: ItemProps) {
  return (
    <Base.Item
      disabled={disabled}
      onClick={onSelect}
      render={render}
      className={classNames(ITEM, danger && 'text-danger')}
    >
      {icon}
      {children}
    </Base.Item>
  )
}

export const MenuSeparator = () => <Base.Separator className="my-1 h-px bg-line" />
