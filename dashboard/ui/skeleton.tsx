// Placeholders for content that is loading. They keep its size, so that nothing jumps when the content arrives.

import { classNames } from './class-names.ts'

export const Skeleton = ({ className }: { className?: string }) => (
  <span aria-hidden className={classNames('pulse block rounded-md bg-sunken', className)} />
)

export function SkeletonRows({ rows = 8, className = 'h-14' }: { rows?: number; className?: string }) {
  return (
    <div role="status" aria-label="Loading" className="grid gap-2">
      {Array.from({ length: rows }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: all rows are the same
        <Skeleton key={row} className={className} />
      ))}
    </div>
  )
}
