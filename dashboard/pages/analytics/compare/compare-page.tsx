// Compares the clicks of a workspace with the CSV of another tool, and shows what is known about the difference.

import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { toFieldErrors } from '../../../api/client.ts'
import { COMPARED_BYTES_MAX, type ReconcileFields, reconcile } from '../../../api/reconcile.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { Button } from '../../../ui/button.tsx'
import { Card } from '../../../ui/card.tsx'
import { viewerZone } from '../../../ui/format.ts'
import { SelectField } from '../../../ui/forms/field.tsx'
import { FileDrop } from '../../../ui/forms/file-drop.tsx'
import { Form } from '../../../ui/forms/form.tsx'
import { FormError } from '../../../ui/forms/form-error.tsx'
import { listTimeZones } from '../../../ui/forms/time-zones.ts'
import { COLUMN, Page } from '../../../ui/page.tsx'
import { ToolComparison } from './comparison.tsx'

export function ComparePage() {
  const api = useApi()
  const compare = useMutation({
    mutationFn: (fields: ReconcileFields) => reconcile(api, fields),
    onError() {},
  })
  return (
    <Page
      title="Compare with another tool"
      description="Why GA4, Plausible or Bitly count other numbers, day by day."
      breadcrumb={[{ label: 'Analytics', to: '/$workspaceId/analytics' }]}
    >
      <div className={COLUMN}>
        <Card title="Their numbers">
          <CompareForm send={compare.mutate} isBusy={compare.isPending} error={compare.error} />
        </Card>
      </div>
      {compare.data && <ToolComparison result={compare.data} />}
    </Page>
  )
}

interface FormProps {
  send: (fields: ReconcileFields) => void
  isBusy: boolean
  error: Error | null
}

/** The names of the orders of `dateOrder`. */
const ORDERS = { dmy: 'Day, month, year', mdy: 'Month, day, year', ymd: 'Year, month, day' }

function CompareForm({ send, isBusy, error }: FormProps) {
  const [file, setFile] = useState<File>()
  const [zone, setZone] = useState(viewerZone)
  const [theirZone, setTheirZone] = useState(viewerZone)
  const [metric, setMetric] = useState('')
  const [order, setOrder] = useState('')
  const { csv, dateOrder, general } = toFieldErrors(error, ['csv', 'dateOrder'])
  const isTooLarge = file !== undefined && file.size > COMPARED_BYTES_MAX
  const fileError = isTooLarge ? 'The file is larger than 900 KB. Export one row for each day.' : csv
  const submit = async () => {
    if (!file || isTooLarge || isBusy) return
    send({
      csv: await file.text(),
      timezone: zone,
      theirTimezone: theirZone,
      ...(metric !== '' && { metric: metric as 'clicks' }),
      ...(order !== '' && { dateOrder: order as 'dmy' }),
    })
  }
  return (
    <Form className="grid gap-4" onSubmit={() => void submit()}>
      {general && <FormError>{general}</FormError>}
      <FileDrop
        label="CSV file"
        hint="A column of dates and one of numbers, at most 400 days. It isn’t stored."
        error={fileError}
        file={file ?? null}
        accept=".csv,.tsv,.txt,text/csv"
        choose={([chosen]) => setFile(chosen)}
        remove={() => setFile(undefined)}
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <ZoneField label="Time zone here" value={zone} choose={setZone} />
        <ZoneField label="Time zone of their days" value={theirZone} choose={setTheirZone} />
        <SelectField label="Compare with" value={metric} onChange={({ target }) => setMetric(target.value)}>
          <option value="">Detect automatically</option>
          <option value="clicks">Clicks</option>
          <option value="visitors">Visitors</option>
        </SelectField>
        {(dateOrder !== undefined || order !== '') && (
          <OrderField value={order} choose={setOrder} error={dateOrder} />
        )}
      </div>
      <div>
        <Button type="submit" variant="primary" busy={isBusy} disabled={!file || isTooLarge}>
          Compare
        </Button>
      </div>
    </Form>
  )
}

interface OrderProps {
  value: string
  choose: (order: string) => void
  error: string | undefined
}

const OrderField = ({ value, choose, error }: OrderProps) => (
  <SelectField
    label="Order of dates"
    error={error}
    value={value}
    onChange={({ target }) => choose(target.value)}
    options={Object.entries(ORDERS)}
  >
    <option value="">As the file shows it</option>
  </SelectField>
)

interface ZoneProps {
  label: string
  value: string
  choose: (zone: string) => void
}

const ZoneField = ({ label, value, choose }: ZoneProps) => (
  <SelectField label={label} value={value} onChange={({ target }) => choose(target.value)}>
    {listTimeZones().map((name) => (
      <option key={name} value={name}>
        {name}
      </option>
    ))}
  </SelectField>
)
