// A top list to its end, searched by typing.

import { useState } from 'react'
import type { Subject } from '../../../api/analytics.ts'
import { Button } from '../../../ui/button.tsx'
import { CopyButton } from '../../../ui/copy/copy-button.tsx'
import { formatCount } from '../../../ui/format.ts'
import { TextField } from '../../../ui/forms/field.tsx'
import { Dialog } from '../../../ui/overlays/dialog.tsx'
import { ErrorState, SkeletonRows } from '../../../ui/states.tsx'
import { type Dimension, getDimensionInfo } from '../view/dimensions.ts'
import type { AnalyticsView } from '../view/use-analytics-view.ts'
import { TopListRows } from './top-list.tsx'
import { type TopRow, useTopList } from './use-top-list.ts'

/** As many as the API gives. */
const API_LIMIT = 1000
/** Drawn at once; the others are found by typing, or shown on demand. */
const PAGE_SIZE = 100

export function TopListDialog({
  view,
  dimension,
  subject,
  counted,
  close,
}: {
  view: AnalyticsView
  dimension: Dimension
  subject: Subject
  counted: string
  close: () => void
}) {
  const [text, setText] = useState('')
  const [shown, setShown] = useState(PAGE_SIZE)
  const { rows, error, refetch } = useTopList(view, dimension, subject, { limit: API_LIMIT })
  const { many, label } = getDimensionInfo(dimension)
  const search = text.trim().toLowerCase()
  const found = rows?.filter(
    ({ label, detail }) => label.toLowerCase().includes(search) || detail?.toLowerCase().includes(search),
  )
  return (
    <Dialog
      open
      onClose={close}
      title={many}
      description={
        rows &&
        `${formatCount(rows.length, label.toLowerCase(), many.toLowerCase())}, most ${counted.toLowerCase()} first`
      }
      footer={
        found &&
        found.length > 0 && (
          <CopyButton text={toTabSeparated(found, label, counted)} label="Copy the list">
            Copy for a spreadsheet
          </CopyButton>
        )
      }
    >
      <div className="grid gap-3">
        <TextField
          label={`Search ${many.toLowerCase()}`}
          hideLabel
          placeholder={`Search ${many.toLowerCase()}`}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        {error && !rows && <ErrorState error={error} retry={refetch} />}
        {!rows && !error && <SkeletonRows rows={10} className="h-8" />}
        {found && rows && (
          <TopListRows
            {...{ view, dimension, subject, counted }}
            rows={found.slice(0, shown)}
            all={rows}
            most={Math.max(...rows.map((row) => row.amount))}
          />
        )}
        {found?.length === 0 && <p className="py-6 text-center text-soft">Nothing is called that.</p>}
        {found && found.length > shown && (
          <Button look="quiet" onClick={() => setShown(shown + PAGE_SIZE)}>
            Show {Math.min(PAGE_SIZE, found.length - shown)} more
          </Button>
        )}
      </div>
    </Dialog>
  )
}

/** Tabs between cells, as spreadsheets take them; what they would run as a formula is a text. */
function toTabSeparated(rows: TopRow[], label: string, counted: string): string {
  const cell = (text: string) => {
    const flat = text.replace(/[\t\r\n]+/g, ' ')
    return /^[=+\-@]/.test(flat) ? `'${flat}` : flat
  }
  return [[label, counted], ...rows.map((row) => [cell(row.label), String(row.amount)])]
    .map((cells) => cells.join('\t'))
    .join('\n')
}
