// The menu that exports the clicks of the view as a file.

import { Download } from 'lucide-react'
import { useState } from 'react'
import { type ClickExportFormat, exportClicks } from '../../../api/analytics.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { Button } from '../../../ui/button.tsx'
import { Menu, MenuItem } from '../../../ui/overlays/menu.tsx'
import { toast, toastError } from '../../../ui/overlays/toast.tsx'
import { saveFile } from '../../../ui/save-file.ts'
import type { AnalyticsView } from '../view/use-analytics-view.ts'

const FORMATS: [ClickExportFormat, string, string][] = [
  ['csv', 'CSV', 'for spreadsheets'],
  ['ndjson', 'NDJSON', 'one click per line'],
  ['parquet', 'Parquet', 'for DuckDB, Spark, …'],
]

export function ExportMenu({ view: { clicks } }: { view: AnalyticsView }) {
  const api = useApi()
  const [busy, setBusy] = useState(false)
  async function save(format: ClickExportFormat) {
    setBusy(true)
    const close = toast('Preparing your file. The download starts when it is ready.', { forMs: 0 })
    try {
      const { file, name } = await exportClicks(api, clicks ?? {}, format)
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
        <Button icon={<Download size={15} />} busy={busy} disabled={clicks === null}>
          Export
        </Button>
      }
    >
      <p className="px-2.5 pt-1 pb-1.5 text-sm text-soft">Export clicks as</p>
      {FORMATS.map(([format, name, detail]) => (
        <MenuItem key={format} onSelect={() => save(format)}>
          <span className="flex-1">{name}</span>
          <span className="text-sm text-soft">{detail}</span>
        </MenuItem>
      ))}
    </Menu>
  )
}
