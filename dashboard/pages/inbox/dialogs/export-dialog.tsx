// The submissions of a form as a file.

import { useMutation, useQuery } from '@tanstack/react-query'
import { useEffect, useId, useState } from 'react'
import { formNamesQuery } from '../../../api/forms.ts'
import {
  exportSubmissions,
  type InboxFilter,
  SUBMISSION_EXPORT_FORMATS,
  type SubmissionExportFormat,
} from '../../../api/submissions.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { Button } from '../../../ui/button.tsx'
import { Field, Select, Toggle } from '../../../ui/forms/field.tsx'
import { FormError } from '../../../ui/forms/form-error.tsx'
import { Dialog } from '../../../ui/overlays/dialog.tsx'

const FORMATS: Record<SubmissionExportFormat, string> = {
  csv: 'CSV, for spreadsheets',
  json: 'JSON',
  ndjson: 'JSON, one line each',
}

export default function ExportDialog({ filter, onClose }: { filter: InboxFilter; onClose: () => void }) {
  const api = useApi()
  const forms = useQuery(formNamesQuery(api))
  const [chosen, setFormKey] = useState(filter.formKey)
  const [format, setFormat] = useState<SubmissionExportFormat>('csv')
  const [isFiltered, setFiltered] = useState(Object.keys(filter).length > 0)
  const id = useId()
  const formKey = chosen ?? forms.data?.[0]?.formKey
  useEffect(() => setFormKey(filter.formKey), [filter.formKey])
  const save = useMutation({
    async mutationFn(key: string) {
      const asked = isFiltered ? { ...filter, formKey: key } : { formKey: key, status: 'all' }
      download(await exportSubmissions(api, asked, format), `submissions-${key}.${format}`)
    },
    onSuccess: onClose,
    onError() {},
  })
  return (
    <Dialog
      open
      onClose={onClose}
      title="Export submissions"
      description="Of one form: every field that it ever got is a column."
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" form={id} look="primary" busy={save.isPending} disabled={!formKey}>
            Download
          </Button>
        </>
      }
    >
      <form
        id={id}
        className="grid gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          if (formKey) save.mutate(formKey)
        }}
      >
        {save.error && <FormError>{save.error.message}</FormError>}
        {forms.data?.length === 0 && <FormError>There is no form yet.</FormError>}
        <Field label="Form">
          {(control) => (
            <Select {...control} value={formKey ?? ''} onChange={(event) => setFormKey(event.target.value)}>
              {forms.data?.map((form) => (
                <option key={form.formKey} value={form.formKey}>
                  {form.name}
                </option>
              ))}
            </Select>
          )}
        </Field>
        <FormatField format={format} onChange={setFormat} />
        <Toggle
          label="Only what the inbox shows"
          hint="With its filters, search and status. Otherwise all of the form's submissions, spam too."
          checked={isFiltered}
          onChange={(event) => setFiltered(event.target.checked)}
        />
      </form>
    </Dialog>
  )
}

const FormatField = (props: {
  format: SubmissionExportFormat
  onChange: (format: SubmissionExportFormat) => void
}) => (
  <Field label="Format">
    {(control) => (
      <Select
        {...control}
        value={props.format}
        onChange={(event) => props.onChange(event.target.value as SubmissionExportFormat)}
      >
        {SUBMISSION_EXPORT_FORMATS.map((one) => (
          <option key={one} value={one}>
            {FORMATS[one]}
          </option>
        ))}
      </Select>
    )}
  </Field>
)

function download(file: Blob, name: string) {
  const url = URL.createObjectURL(file)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // Begun by now; a moment later nobody needs the address any more.
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}
