// What a page shows when there is nothing to show: it loads, it is empty, it failed.

import { RotateCw } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button } from './button.tsx'
import { classNames } from './class-names.ts'

/** Keeps the place of what loads, so that nothing jumps when it comes. */
export const Skeleton = ({ className }: { className?: string }) => (
  <span aria-hidden className={classNames('pulse block rounded-md bg-sunken', className)} />
)

export function SkeletonRows({ rows = 8, className = 'h-14' }: { rows?: number; className?: string }) {
  return (
    <div role="status" aria-label="Loading" className="grid gap-2">
      {Array.from({ length: rows }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they are all the same
        <Skeleton key={row} className={className} />
      ))}
    </div>
  )
}

export function EmptyState({
  icon,
  title,
  children,
  action,
}: {
  icon?: ReactNode
  title: string
  children?: ReactNode
  action?: ReactNode
}) {
  return (
    <div className="grid justify-items-center gap-2 rounded-2xl border border-dashed border-line px-6 py-14 text-center">
      {icon && <div className="mb-1 text-soft">{icon}</div>}
      <h2 className="text-lg font-semibold">{title}</h2>
      {children && <div className="max-w-prose text-soft">{children}</div>}
      {action && <div className="mt-3 flex flex-wrap justify-center gap-2">{action}</div>}
    </div>
  )
}

export function ErrorState({ error, retry }: { error: unknown; retry?: () => void }) {
  return (
    <div
      role="alert"
      className="grid justify-items-start gap-3 rounded-2xl border border-danger bg-danger-tint p-5"
    >
      <div>
        <h2 className="font-semibold">This could not be loaded</h2>
        <p className="text-sm">{error instanceof Error ? error.message : String(error)}</p>
      </div>
      {retry && (
        <Button size="small" icon={<RotateCw size={14} />} onClick={retry}>
          Try again
        </Button>
      )}
    </div>
  )
}
