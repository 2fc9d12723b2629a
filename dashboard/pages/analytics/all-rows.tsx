// A top list to its end, searched by typing.

import { useState } from 'react'
import type { Subject } from '../../api/analytics.ts'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { count } from '../../ui/format.ts'
import { Failed, SkeletonRows } from '../../ui/states.tsx'
import { type Dimension, factsOf } from './dimensions.ts'
import { Rows } from './top-list.tsx'
import { type TopRow, useTop } from './use-top.ts'
import type { View } from './use-view.ts'

/** As many as the API gives. */
const ALL = 1000
/** Drawn at once; the others are found by typing, or shown on demand. */
const STEP = 100

export function AllRows({
  view,
  dimension,
  subject,
  counted,
  close,
}: {
  view: View
  dimension: Dimension
  subject: Subject
  counted: string
  close: () => void
}) {
  const [text, setText] = useState('')
  const [shown, setShown] = useState(STEP)
  const { rows, error, refetch } = useTop(view, dimension, subject, { limit: ALL })
  const { many, label } = factsOf(dimension)
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
        `${count(rows.length, label.toLowerCase(), many.toLowerCase())}, most ${counted.toLowerCase()} first`
      }
      footer={
        found &&
        found.length > 0 && (
          <CopyButton text={tableOf(found, label, counted)} label="Copy the list">
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
        {error && !rows && <Failed error={error} retry={refetch} />}
        {!rows && !error && <SkeletonRows rows={10} className="h-8" />}
        {found && rows && (
          <Rows
            {...{ view, dimension, subject, counted }}
            rows={found.slice(0, shown)}
            all={rows}
            most={Math.max(...rows.map((row) => row.shown))}
          />
        )}
        {found?.length === 0 && <p className="py-6 text-center text-soft">Nothing is called that.</p>}
        {found && found.length > shown && (
          <Button look="quiet" onClick={() => setShown(shown + STEP)}>
            Show {Math.min(STEP, found.length - shown)} more
          </Button>
        )}
      </div>
    </Dialog>
  )
}

/** Tabs between cells, as spreadsheets take them; what they would run as a formula is a text. */
function tableOf(rows: TopRow[], label: string, counted: string): string {
  const cell = (text: string) => {
    const flat = text.replace(/[\t\r\n]+/g, ' ')
    return /^[=+\-@]/.test(flat) ? `'${flat}` : flat
  }
  return [[label, counted], ...rows.map((row) => [cell(row.label), String(row.shown)])]
    .map((cells) => cells.join('\t'))
    .join('\n')
}
