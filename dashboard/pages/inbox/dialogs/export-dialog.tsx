// The dialog that exports a form's submissions as a file.

import { useMutation, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { formNamesQuery } from '../../../api/forms.ts'
import {
  exportSubmissions,
  type InboxFilter,
  SUBMISSION_EXPORT_FORMATS,
  type SubmissionExportFormat,
} from '../../../api/submissions.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { SelectField, Toggle } from '../../../ui/forms/field.tsx'
import { FormDialog } from '../../../ui/forms/form-dialog.tsx'
import { FormError } from '../../../ui/forms/form-error.tsx'
import { saveFile } from '../../../ui/save-file.ts'

const FORMATS: Record<SubmissionExportFormat, string> = {
  xlsx: 'Excel',
  csv: 'CSV, for spreadsheets',
  json: 'JSON',
  ndjson: 'NDJSON, one JSON object per line',
}

export default function ExportDialog({ filter, onClose }: { filter: InboxFilter; onClose: () => void }) {
  const api = useApi()
  const forms = useQuery(formNamesQuery(api))
  const [chosenKey, setFormKey] = useState(filter.formKey)
  const [format, setFormat] = useState<SubmissionExportFormat>('xlsx')
  const [isFiltered, setFiltered] = useState(true)
  const formKey = chosenKey ?? forms.data?.[0]?.formKey
  useEffect(() => setFormKey(filter.formKey), [filter.formKey])
  const save = useMutation({
    async mutationFn(key: string) {
      const exportFilter = isFiltered ? { ...filter, formKey: key } : { formKey: key, status: 'all' }
      saveFile(await exportSubmissions(api, exportFilter, format))
    },
    onSuccess: onClose,
    onError() {},
  })
  return (
    <FormDialog
      onClose={onClose}
      title="Export submissions"
      description="One form’s submissions, with a column for each field."
      action="Download"
      busy={save.isPending}
      disabled={!formKey}
      error={save.error?.message}
      onSubmit={() => {
        if (formKey) save.mutate(formKey)
      }}
    >
      {forms.data?.length === 0 && <FormError>Create a form first.</FormError>}
      <SelectField
        label="Form"
        value={formKey ?? ''}
        onChange={(event) => setFormKey(event.target.value)}
        options={forms.data?.map((form) => [form.formKey, form.name])}
      />
      <FormatField format={format} onChange={setFormat} />
      <Toggle
        label="Only what the inbox shows"
        hint="Uses the inbox’s tab, search and filters. Turn it off to export everything the form received, spam and archived submissions too."
        checked={isFiltered}
        onChange={(event) => setFiltered(event.target.checked)}
      />
    </FormDialog>
  )
}

const FormatField = (props: {
  format: SubmissionExportFormat
  onChange: (format: SubmissionExportFormat) => void
}) => (
  <SelectField
    label="Format"
    value={props.format}
    onChange={(event) => props.onChange(event.target.value as SubmissionExportFormat)}
    options={SUBMISSION_EXPORT_FORMATS.map((option) => [option, FORMATS[option]])}
  />
)
