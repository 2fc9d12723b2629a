// The active filters. Each can be negated, changed and removed.

import { ListFilter, X } from 'lucide-react'
import { useMemo, useState } from 'react'
import { Button } from '../../../ui/button.tsx'
import { lazyPart } from '../../../ui/lazy-part.tsx'
import { Popover } from '../../../ui/overlays/popover.tsx'
import { useShortcuts } from '../../../ui/shortcuts.ts'
import { SkeletonRows } from '../../../ui/skeleton.tsx'
import { t } from '../../../ui/text.ts'
import type { DimensionFilter } from '../view/dimension-filter.ts'
import { type Dimension, getDimensionInfo } from '../view/dimensions.ts'
import type { AnalyticsView } from '../view/use-analytics-view.ts'
import { useValueNames } from '../view/use-value-names.ts'

const loading = (
  <div className="p-3">
    <SkeletonRows rows={6} className="h-8" />
  </div>
)
const FilterEditor = lazyPart(() => import('./filter-editor.tsx'), 'FilterEditor', loading)

export function AddFilterButton({ view }: { view: AnalyticsView }) {
  const [open, setOpen] = useState(false)
  const shortcuts = useMemo(
    () => [
      { keys: 'f', label: 'Add filter', run: () => setOpen(true) },
      { keys: 'x', label: 'Clear filters', run: view.clear },
    ],
    [view.clear],
  )
  useShortcuts(shortcuts)
  return (
    <Popover
      open={open}
      onOpenChange={setOpen}
      label="Add filter"
      className="w-80"
      trigger={<Button icon={<ListFilter size={15} />}>Filter</Button>}
    >
      <FilterEditor view={view} close={() => setOpen(false)} />
    </Popover>
  )
}

const CHIP_BUTTON = 'h-7 px-2 hover:bg-hover hover:text-ink -outline-offset-2'

export function FilterChip({
  view,
  dimension,
  filter,
}: {
  view: AnalyticsView
  dimension: Dimension
  filter: DimensionFilter
}) {
  const [open, setOpen] = useState(false)
  const toName = useValueNames(dimension, filter.values)
  const { label } = getDimensionInfo(dimension)
  const names = filter.values.map(toName)
  const summary = names.length > 2 ? `${names[0]} and ${names.length - 1} more` : names.join(t(' or '))
  return (
    <div className="flex max-w-full items-stretch overflow-hidden rounded-lg border border-line bg-card text-sm">
      <span className="flex shrink-0 items-center pl-2.5 text-soft">{label}</span>
      <button
        type="button"
        className={`${CHIP_BUTTON} shrink-0 ${filter.negate ? 'text-danger' : 'text-soft'}`}
        title={filter.negate ? 'Include these' : 'Exclude these'}
        onClick={() => view.setFilter(dimension, { ...filter, negate: !filter.negate })}
      >
        {filter.negate ? 'is not' : 'is'}
      </button>
      <Popover
        open={open}
        onOpenChange={setOpen}
        label={`Filter by ${label}`}
        className="w-80"
        trigger={
          <button
            type="button"
            title={names.join(', ')}
            className={`${CHIP_BUTTON} min-w-0 truncate font-medium`}
          >
            {summary}
          </button>
        }
      >
        <FilterEditor view={view} dimension={dimension} close={() => setOpen(false)} />
      </Popover>
      <button
        type="button"
        aria-label={`Remove filter ${label}`}
        title="Remove"
        className={`${CHIP_BUTTON} shrink-0 text-soft`}
        onClick={() => view.setFilter(dimension, { values: [], negate: false })}
      >
        <X size={14} aria-hidden />
      </button>
    </div>
  )
}
