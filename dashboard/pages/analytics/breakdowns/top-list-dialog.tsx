// A dialog with a whole top list, and a search field.

import { useState } from 'react'
import type { Subject } from '../../../api/analytics.ts'
import { Button } from '../../../ui/button.tsx'
import { CopyButton } from '../../../ui/copy/copy-button.tsx'
import { ErrorState } from '../../../ui/error-state.tsx'
import { formatCount } from '../../../ui/format.ts'
import { TextField } from '../../../ui/forms/field.tsx'
import { Dialog } from '../../../ui/overlays/dialog.tsx'
import { SkeletonRows } from '../../../ui/skeleton.tsx'
import { inSentence } from '../../../ui/text.ts'
import { type Dimension, getDimensionInfo } from '../view/dimensions.ts'
import type { AnalyticsView } from '../view/use-analytics-view.ts'
import { TopListRows } from './top-list.tsx'
import { type TopRow, useTopList } from './use-top-list.ts'

/** The API's maximum. */
const API_LIMIT = 1000
/** The number of rows that are drawn at first; a button shows more. */
const PAGE_SIZE = 100

export function TopListDialog({
  view,
  dimension,
  subject,
  metricLabel,
  close,
}: {
  view: AnalyticsView
  dimension: Dimension
  subject: Subject
  metricLabel: string
  close: () => void
}) {
  const [text, setText] = useState('')
  const [shown, setShown] = useState(PAGE_SIZE)
  const { rows, error, refetch } = useTopList(view, dimension, subject, { limit: API_LIMIT })
  const { plural, label } = getDimensionInfo(dimension)
  const search = text.trim().toLowerCase()
  const matches = rows?.filter(
    ({ label, detail }) => label.toLowerCase().includes(search) || detail?.toLowerCase().includes(search),
  )
  return (
    <Dialog
      onClose={close}
      title={plural}
      description={
        rows &&
        `${formatCount(rows.length, inSentence(label), inSentence(plural))}, most ${inSentence(metricLabel)} first`
      }
      footer={
        matches &&
        matches.length > 0 && (
          <CopyButton text={toTabSeparated(matches, label, metricLabel)} label="Copy list">
            Copy for spreadsheet
          </CopyButton>
        )
      }
    >
      <div className="grid grid-cols-1 gap-3">
        <TextField
          label={`Search ${inSentence(plural)}`}
          hideLabel
          placeholder={`Search ${inSentence(plural)}`}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        {error && !rows && <ErrorState error={error} retry={refetch} />}
        {!rows && !error && <SkeletonRows rows={10} className="h-8" />}
        {matches && rows && (
          <TopListRows
            {...{ view, dimension, subject, metricLabel }}
            rows={matches.slice(0, shown)}
            all={rows}
            highest={Math.max(...rows.map((row) => row.amount))}
          />
        )}
        {matches?.length === 0 && <p className="py-6 text-center text-soft">No matches</p>}
        {matches && matches.length > shown && (
          <Button variant="quiet" onClick={() => setShown(shown + PAGE_SIZE)}>
            Show {Math.min(PAGE_SIZE, matches.length - shown)} more
          </Button>
        )}
      </div>
    </Dialog>
  )
}

/** The rows as tab-separated cells for a spreadsheet. An apostrophe keeps a cell from being run as a formula. */
function toTabSeparated(rows: TopRow[], label: string, metricLabel: string): string {
  const cell = (text: string) => {
    const flat = text.replace(/[\t\r\n]+/g, ' ')
    return /^[=+\-@]/.test(flat) ? `'${flat}` : flat
  }
  return [[label, metricLabel], ...rows.map((row) => [cell(row.label), String(row.amount)])]
    .map((cells) => cells.join('\t'))
    .join('\n')
}
