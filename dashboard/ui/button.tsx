// Buttons, and links that look like them.

import { createLink } from '@tanstack/react-router'
import type { ComponentProps, ReactNode } from 'react'
import { classNames } from './class-names.ts'

type Look = 'primary' | 'secondary' | 'quiet' | 'danger'
type Size = 'normal' | 'small'

const LOOKS: Record<Look, string> = {
  primary: 'bg-accent text-on-accent hover:bg-accent-hover border-transparent',
  secondary: 'bg-card text-ink hover:bg-hover border-line',
  quiet: 'bg-transparent text-soft hover:bg-hover hover:text-ink border-transparent',
  danger: 'bg-danger text-on-danger hover:opacity-90 border-transparent',
}
const SIZES: Record<Size, string> = { normal: 'h-9 px-3.5 gap-2', small: 'h-7 px-2 gap-1.5 text-sm' }

export const buttonLook = (look: Look = 'secondary', size: Size = 'normal') =>
  classNames(
    'inline-flex items-center justify-center rounded-lg border font-medium whitespace-nowrap select-none',
    'transition-colors disabled:opacity-55 disabled:cursor-not-allowed',
    LOOKS[look],
    SIZES[size],
  )

interface Own {
  look?: Look
  size?: Size
  icon?: ReactNode
}

/** `busy` keeps the width and the place, and cannot be pressed twice. */
export function Button({
  look,
  size,
  icon,
  busy,
  className,
  children,
  disabled,
  ...props
}: ComponentProps<'button'> & Own & { busy?: boolean }) {
  return (
    <button
      type="button"
      {...props}
      disabled={disabled || busy}
      aria-busy={busy || undefined}
      className={classNames(buttonLook(look, size), busy && 'pulse', className)}
    >
      {icon}
      {children}
    </button>
  )
}

function Anchor({ look, size, icon, className, children, ...props }: ComponentProps<'a'> & Own) {
  return (
    <a {...props} className={classNames(buttonLook(look, size), className)}>
      {icon}
      {children}
    </a>
  )
}

/** `Link` of the router that looks like a button: it knows our addresses and loads them ahead. */
export const ButtonLink = createLink(Anchor)

/** An icon alone; `label` is what it is called. */
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
