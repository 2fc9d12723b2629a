// The toolbar of analytics: date range, filters, traffic class or attribution model, and export.

import { X } from 'lucide-react'
import { Button } from '../../../ui/button.tsx'
import { Select } from '../../../ui/forms/field.tsx'
import { HIT_CLASS_LABELS } from '../view/dimensions.ts'
import { ModelSelect } from '../view/model-select.tsx'
import type { AnalyticsView } from '../view/use-analytics-view.ts'
import { ExportMenu } from './export-menu.tsx'
import { AddFilterButton, FilterChip } from './filter-chips.tsx'
import { RangePicker } from './range-picker.tsx'

const SMALL = 'w-auto! border-line!'

export function AnalyticsToolbar({ view }: { view: AnalyticsView }) {
  const { filters, hitClass, metric, set } = view
  return (
    <div className="z-20 grid grid-cols-1 gap-2 bg-paper lg:sticky lg:top-0 lg:-mx-1 lg:px-1 lg:py-2">
      <div className="flex flex-wrap items-center gap-2">
        <RangePicker view={view} />
        <AddFilterButton view={view} />
        <div className="ml-auto flex flex-wrap items-center gap-2 max-sm:ml-0">
          {metric === 'leads' && <ModelSelect view={view} className={SMALL} />}
          {metric !== 'leads' && (
            <Select
              aria-label="Traffic"
              className={SMALL}
              value={hitClass ?? 'human'}
              onChange={(event) =>
                set({ class: event.target.value === 'human' ? undefined : event.target.value })
              }
            >
              {Object.entries(HIT_CLASS_LABELS).map(([value, name]) => (
                <option key={value} value={value}>
                  {name}
                </option>
              ))}
            </Select>
          )}
          <ExportMenu view={view} />
        </div>
      </div>
      {filters.length > 0 && (
        <ul aria-label="Filters" className="flex flex-wrap items-center gap-2">
          {filters.map(({ dimension, filter }) => (
            <li key={dimension} className="min-w-0">
              <FilterChip view={view} dimension={dimension} filter={filter} />
            </li>
          ))}
          <li>
            <Button variant="quiet" size="small" icon={<X size={14} />} onClick={view.clear}>
              Clear filters
            </Button>
          </li>
        </ul>
      )}
    </div>
  )
}
