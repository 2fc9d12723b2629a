// What the page looks at: the range, the filters, who is counted; and the way out as a file.

import { X } from 'lucide-react'
import { Button } from '../../ui/button.tsx'
import { Select } from '../../ui/field.tsx'
import { CLASSES } from './dimensions.ts'
import { ExportMenu } from './export-menu.tsx'
import { AddFilter, FilterChip } from './filter-chips.tsx'
import { ModelSelect } from './model-select.tsx'
import { RangePicker } from './range-picker.tsx'
import type { View } from './use-view.ts'

const SMALL = 'w-auto! border-line!'

export function Toolbar({ view }: { view: View }) {
  const { filters, hitClass, metric, set } = view
  return (
    <div className="z-20 grid grid-cols-1 gap-2 bg-paper lg:sticky lg:top-0 lg:-mx-1 lg:px-1 lg:py-2">
      <div className="flex flex-wrap items-center gap-2">
        <RangePicker view={view} />
        <AddFilter view={view} />
        <div className="ml-auto flex flex-wrap items-center gap-2 max-sm:ml-0">
          {metric === 'leads' && <ModelSelect view={view} className={SMALL} />}
          {metric !== 'leads' && (
            <Select
              aria-label="Who is counted"
              className={SMALL}
              value={hitClass ?? 'human'}
              onChange={(event) =>
                set({ class: event.target.value === 'human' ? undefined : event.target.value })
              }
            >
              {Object.entries(CLASSES).map(([value, name]) => (
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
            <Button look="quiet" size="small" icon={<X size={14} />} onClick={view.clear}>
              Clear
            </Button>
          </li>
        </ul>
      )}
    </div>
  )
}
