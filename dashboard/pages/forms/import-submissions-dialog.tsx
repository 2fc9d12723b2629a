// The dialog that imports the submissions of another form service into a form. The page of the import has the result.

import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useId, useState } from 'react'
import { toFieldErrors } from '../../api/client.ts'
import { type DateOrder, importQuery, importSubmissions, LINKS_FILE_MAX } from '../../api/transfer/imports.ts'
import { useApi } from '../../shell/use-workspace.ts'
import { Button } from '../../ui/button.tsx'
import { formatBytes } from '../../ui/format.ts'
import { SelectField } from '../../ui/forms/field.tsx'
import { FileDrop } from '../../ui/forms/file-drop.tsx'
import { Form } from '../../ui/forms/form.tsx'
import { FormError } from '../../ui/forms/form-error.tsx'
import { Dialog } from '../../ui/overlays/dialog.tsx'
import { ProgressBar } from '../../ui/progress-bar.tsx'
import { TimeZoneField } from '../transfer/new/date-fields.tsx'
import { findFileProblem } from '../transfer/new/file-problem.ts'
import { useUpload } from '../transfer/new/use-upload.ts'

export default function ImportSubmissionsDialog(props: { formKey: string; onClose: () => void }) {
  const id = useId()
  const [file, setFile] = useState<File | null>(null)
  const [dateOrder, setDateOrder] = useState<DateOrder | ''>('')
  const [timeZone, setTimeZone] = useState('UTC')
  const { start, part, error } = useImport(props.formKey)
  const errors = toFieldErrors(error, ['file', 'dateOrder', 'timeZone'])
  const problem = file && findFileProblem(file, LINKS_FILE_MAX, 'Split the file.')
  const begin = (dryRun: boolean) => {
    if (file && !problem) start({ file, settings: { dryRun, timeZone, dateOrder: dateOrder || undefined } })
  }
  return (
    <Dialog
      onClose={props.onClose}
      title="Import submissions"
      description="From Formspree, Netlify Forms, Basin, Web3Forms, Getform or another service. Nobody is notified, and submissions that are here already are skipped."
      footer={
        <>
          <Button onClick={props.onClose}>Cancel</Button>
          <Button busy={part !== null} disabled={!file} onClick={() => begin(false)}>
            Import now
          </Button>
          <Button type="submit" form={id} variant="primary" busy={part !== null} disabled={!file}>
            Dry run
          </Button>
        </>
      }
    >
      <Form id={id} noValidate className="grid grid-cols-1 gap-5" onSubmit={() => begin(true)}>
        {errors.general && <FormError>{errors.general}</FormError>}
        <FileDrop
          label="Export as CSV or JSON"
          hint={`At most ${formatBytes(LINKS_FILE_MAX)}. Time, id, sender, page and campaign are recognized; every other column becomes a field.`}
          error={problem ?? errors.file}
          file={file}
          disabled={part !== null}
          choose={([chosen]) => setFile(chosen ?? null)}
          remove={() => setFile(null)}
        />
        <DateOrderField order={dateOrder} error={errors.dateOrder} change={setDateOrder} />
        <TimeZoneField zone={timeZone} error={errors.timeZone} change={setTimeZone} />
        {part !== null && <ProgressBar label="Uploading" part={part < 1 ? part : null} />}
      </Form>
    </Dialog>
  )
}

interface DateOrderProps {
  order: DateOrder | ''
  error: string | undefined
  change: (order: DateOrder | '') => void
}

const DateOrderField = ({ order, error, change }: DateOrderProps) => (
  <SelectField
    label="Dates such as 03/04/2026"
    className="grid-cols-1"
    error={error}
    hint="Only for files with such dates."
    value={order}
    onChange={({ target }) => change(target.value as DateOrder | '')}
  >
    <option value="">Detect automatically</option>
    <option value="dmy">Day, month, year</option>
    <option value="mdy">Month, day, year</option>
  </SelectField>
)

interface UploadInput {
  file: File
  settings: Parameters<typeof importSubmissions>[3]
}

/** Starts the import, and opens its page. */
function useImport(formKey: string) {
  const api = useApi()
  const client = useQueryClient()
  const navigate = useNavigate()
  return useUpload(
    ({ file, settings }: UploadInput, options) => importSubmissions(api, formKey, file, settings, options),
    (started) => {
      client.setQueryData(importQuery(api, started.id).queryKey, started)
      void client.invalidateQueries({
        queryKey: [api.workspaceId],
        predicate: ({ queryKey }) => queryKey[2] !== 'one',
      })
      return navigate({
        to: '/$workspaceId/settings/transfer/$importId',
        params: { workspaceId: String(api.workspaceId), importId: String(started.id) },
        search: {},
      })
    },
  )
}
