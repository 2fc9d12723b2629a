// The menu that exports the clicks of the view as a file, or its leads where the page counts leads.

import { Download } from 'lucide-react'
import { useState } from 'react'
import { EXPORT_FORMATS, type ExportFormat, exportEvents } from '../../../api/analytics.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { Button } from '../../../ui/button.tsx'
import { Menu, MenuItem } from '../../../ui/overlays/menu.tsx'
import { toast, toastError } from '../../../ui/overlays/toast.tsx'
import { saveFile } from '../../../ui/save-file.ts'
import type { AnalyticsView } from '../view/use-analytics-view.ts'

const FORMAT_TEXTS: Record<ExportFormat, [name: string, detail: string]> = {
  csv: ['CSV', 'for spreadsheets'],
  ndjson: ['NDJSON', 'one per line'],
  parquet: ['Parquet', 'for DuckDB, Spark, …'],
}

export function ExportMenu({ view }: { view: AnalyticsView }) {
  const subject = view.metric === 'leads' ? 'leads' : 'clicks'
  const parameters = view[subject]
  const api = useApi()
  const [busy, setBusy] = useState(false)
  async function save(format: ExportFormat) {
    setBusy(true)
    const close = toast('Preparing your file. The download starts when it is ready.', { forMs: 0 })
    try {
      const { file, name } = await exportEvents(api, subject, parameters ?? {}, format)
      saveFile(file, name)
    } catch (error) {
      toastError(error, 'Could not export')
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
