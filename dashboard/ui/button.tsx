// Buttons, and links that look like buttons.

import { createLink } from '@tanstack/react-router'
import type { ComponentProps, ReactNode } from 'react'
import { classNames } from './class-names.ts'

type Variant = 'primary' | 'secondary' | 'quiet' | 'danger'
type Size = 'normal' | 'small'

const VARIANT_CLASSES: Record<Variant, string> = {
  primary: 'bg-accent text-on-accent hover:bg-accent-hover border-transparent',
  secondary: 'bg-card text-ink hover:bg-hover border-line',
  quiet: 'bg-transparent text-soft hover:bg-hover hover:text-ink border-transparent',
  danger: 'bg-danger text-on-danger hover:opacity-90 border-transparent',
}
const SIZE_CLASSES: Record<Size, string> = { normal: 'h-9 px-3.5 gap-2', small: 'h-7 px-2 gap-1.5 text-sm' }

export const buttonClassNames = (variant: Variant = 'secondary', size: Size = 'normal') =>
  classNames(
    'inline-flex items-center justify-center rounded-lg border font-medium whitespace-nowrap select-none',
    'transition-colors disabled:opacity-55 disabled:cursor-not-allowed',
    VARIANT_CLASSES[variant],
    SIZE_CLASSES[size],
  )

interface ButtonOptions {
  variant?: Variant
  size?: Size
  icon?: ReactNode
}

/** A `busy` button keeps its size and the focus, and cannot be pressed again. A disabled one would lose the focus. */
export function Button({
  variant,
  size,
  icon,
  busy,
  className,
  children,
  onClick,
  ...props
}: ComponentProps<'button'> & ButtonOptions & { busy?: boolean }) {
  return (
    <button
      type="button"
      {...props}
      onClick={busy ? (event) => event.preventDefault() : onClick}
      aria-disabled={busy || undefined}
      aria-busy={busy || undefined}
      className={classNames(buttonClassNames(variant, size), busy && 'pulse', className)}
    >
      {icon}
      {children}
    </button>
  )
}

function Anchor({ variant, size, icon, className, children, ...props }: ComponentProps<'a'> & ButtonOptions) {
  return (
    <a {...props} className={classNames(buttonClassNames(variant, size), className)}>
      {icon}
      {children}
    </a>
  )
}

/** The router's `Link` with the style of a button: typed addresses, preloaded pages. */
export const ButtonLink = createLink(Anchor)

/** A button with only an icon. `label` is its accessible name and its tooltip. */
export function IconButton({
  label,
  className,
  children,
  ...props
}: ComponentProps<'button'> & { label: string }) {
  return (
    <button
      type="button"
      title={label}
      aria-label={label}
      {...props}
      className={classNames(
        'inline-grid size-8 shrink-0 place-items-center rounded-lg text-soft hover:bg-hover hover:text-ink disabled:opacity-55',
        className,
      )}
    >
      {children}
    </button>
  )
}
