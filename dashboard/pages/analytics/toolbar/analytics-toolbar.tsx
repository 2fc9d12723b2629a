// The toolbar of analytics: date range, filters, traffic class or attribution model, and export.

import { Download, X } from 'lucide-react'
import { useState } from 'react'
import { EXPORT_FORMATS, type ExportFormat, exportEvents } from '../../../api/analytics.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { Button } from '../../../ui/button.tsx'
import { Select } from '../../../ui/forms/field.tsx'
import { Menu, MenuItem } from '../../../ui/overlays/menu.tsx'
import { toast, toastError } from '../../../ui/overlays/toast.tsx'
import { saveFile } from '../../../ui/save-file.ts'
import { HIT_CLASS_LABELS } from '../view/dimensions.ts'
import { ModelSelect } from '../view/model-select.tsx'
import type { AnalyticsView } from '../view/use-analytics-view.ts'
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
              options={Object.entries(HIT_CLASS_LABELS)}
            />
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

const FORMAT_TEXTS: Record<ExportFormat, [name: string, detail: string]> = {
  csv: ['CSV', 'for spreadsheets'],
  ndjson: ['NDJSON', 'one per line'],
  parquet: ['Parquet', 'for DuckDB, Spark, …'],
}

/** The menu that exports the clicks of the view as a file, or its leads where the page counts leads. */
function ExportMenu({ view }: { view: AnalyticsView }) {
  const subject = view.metric === 'leads' ? 'leads' : 'clicks'
  const parameters = view[subject]
  const api = useApi()
  const [busy, setBusy] = useState(false)
  async function save(format: ExportFormat) {
    setBusy(true)
    const close = toast('Preparing your file. The download starts when it is ready.', { forMs: 0 })
    try {
      saveFile(await exportEvents(api, subject, parameters ?? {}, format))
    } catch (error) {
      toastError(error, 'Couldn’t export')
    } finally {
      close()
      setBusy(false)
    }
  }
  return (
    <Menu
      trigger={
        <Button icon={<Download size={15} />} busy={busy} disabled={parameters === null}>
          Export
        </Button>
      }
    >
      <p className="px-2.5 pt-1 pb-1.5 text-sm text-soft">Export {subject} as</p>
      {EXPORT_FORMATS[subject].map((format) => (
        <MenuItem key={format} onSelect={() => save(format)}>
          <span className="flex-1">{FORMAT_TEXTS[format][0]}</span>
          <span className="text-sm text-soft">{FORMAT_TEXTS[format][1]}</span>
        </MenuItem>
      ))}
    </Menu>
  )
}
