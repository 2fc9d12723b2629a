// The clicks of the view, as a file.

import { Download } from 'lucide-react'
import { useState } from 'react'
import { type ClickExportFormat, exportClicks } from '../../../api/analytics.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { Button } from '../../../ui/button.tsx'
import { Menu, MenuItem } from '../../../ui/overlays/menu.tsx'
import { toast, toastError } from '../../../ui/overlays/toast.tsx'
import type { AnalyticsView } from '../view/use-analytics-view.ts'

const FORMATS: [ClickExportFormat, string, string][] = [
  ['csv', 'CSV', 'for spreadsheets'],
  ['ndjson', 'NDJSON', 'one click a line'],
  ['parquet', 'Parquet', 'for DuckDB, Spark, …'],
]

export function ExportMenu({ view: { clicks } }: { view: AnalyticsView }) {
  const api = useApi()
  const [busy, setBusy] = useState(false)
  async function save(format: ClickExportFormat) {
    setBusy(true)
    const close = toast('Your file is being made. It is saved when it is there.', { forMs: 0 })
    try {
      const { file, name } = await exportClicks(api, clicks ?? {}, format)
      saveAs(file, name)
    } catch (error) {
      toastError(error, 'Not exported')
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
      <p className="px-2.5 pt-1 pb-1.5 text-sm text-soft">Each click of this view as</p>
      {FORMATS.map(([format, name, what]) => (
        <MenuItem key={format} onSelect={() => save(format)}>
          <span className="flex-1">{name}</span>
          <span className="text-sm text-soft">{what}</span>
        </MenuItem>
      ))}
    </Menu>
  )
}

/** A minute is enough for a browser to have begun. */
const REVOKE_AFTER_MS = 60_000

function saveAs(file: Blob, name: string) {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(file)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), REVOKE_AFTER_MS)
}
