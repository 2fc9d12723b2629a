// Imports a CSV file with outcomes of leads, and shows what became of its rows.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type RefObject, useRef, useState } from 'react'
import { toFieldErrors } from '../../api/client.ts'
import {
  importOutcomeFile,
  OUTCOMES_FILE_MAX,
  type OutcomeImportInput,
  type OutcomeImportResult,
} from '../../api/transfer/outcome-import.ts'
import { useApi } from '../../shell/use-workspace.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { focusIfLost } from '../../ui/focus.ts'
import { formatNumber, viewerZone } from '../../ui/format.ts'
import { SelectField } from '../../ui/forms/field.tsx'
import { FileDrop } from '../../ui/forms/file-drop.tsx'
import { Form } from '../../ui/forms/form.tsx'
import { FormError } from '../../ui/forms/form-error.tsx'
import { TimeZoneField } from './new/date-fields.tsx'
import { findFileProblem } from './new/file-problem.ts'

const STAGES = { won: 'Won', qualified: 'Qualified', contacted: 'Contacted', lost: 'Lost' } as const
type Stage = keyof typeof STAGES

function useOutcomeImport(form: RefObject<HTMLFormElement | null>) {
  const api = useApi()
  const client = useQueryClient()
  const [file, setFile] = useState<File | null>(null)
  const [problem, setProblem] = useState<string>()
  const [stage, setStage] = useState<Stage>('won')
  const [timeZone, setTimeZone] = useState(viewerZone)
  const save = useMutation({
    mutationFn: async (chosen: File) => {
      const input: OutcomeImportInput = { csv: await chosen.text(), stage, timezone: timeZone }
      return importOutcomeFile(api, input)
    },
    onSuccess() {
      setFile(null)
      // Without a file the button is disabled, and loses the focus.
      focusIfLost(() => form.current?.querySelector('input'))
      for (const name of ['analytics', 'outcomes', 'submissions'])
        void client.invalidateQueries({ queryKey: [api.workspaceId, name] })
    },
    onError() {},
  })
  const choose = ([chosen]: File[]) => {
    if (!chosen) return
    save.reset()
    setProblem(findFileProblem(chosen, OUTCOMES_FILE_MAX, 'Split the file.'))
    setFile(chosen)
  }
  const remove = () => {
    setProblem(undefined)
    setFile(null)
  }
  return { file, choose, remove, problem, stage, setStage, timeZone, setTimeZone, save }
}

export function OutcomeImportCard() {
  const form = useRef<HTMLFormElement>(null)
  const { file, choose, remove, problem, stage, setStage, timeZone, setTimeZone, save } =
    useOutcomeImport(form)
  const errors = toFieldErrors(save.error, ['csv', 'stage', 'timezone'])
  const submit = () => {
    if (file && !problem && !save.isPending) save.mutate(file)
  }
  return (
    <Card title="Outcomes of leads">
      <Form ref={form} className="grid grid-cols-1 gap-5" aria-label="Import outcomes" onSubmit={submit}>
        <p className="text-soft">
          Tell Towpath which leads were won and what they were worth. The CSV file has the columns{' '}
          <Column name="email" />, <Column name="value" />, <Column name="currency" /> and{' '}
          <Column name="at" />, and <Column name="stage" /> and <Column name="externalId" /> where you have
          them. A row counts for the latest lead of its address before <Column name="at" />. A file that comes
          again makes no second outcomes.
        </p>
        <FileDrop
          label="File with the outcomes"
          hint="CSV, at most 5,000 rows and a million characters."
          error={problem ?? errors.csv}
          file={file}
          disabled={save.isPending}
          choose={choose}
          remove={remove}
        />
        <div className="grid gap-4 sm:grid-cols-2">
          <SelectField
            label="Stage"
            hint="For rows that name none."
            error={errors.stage}
            value={stage}
            onChange={({ target }) => setStage(target.value as Stage)}
            options={Object.entries(STAGES)}
          />
          <TimeZoneField zone={timeZone} error={errors.timezone} change={setTimeZone} />
        </div>
        {errors.general && <FormError>{errors.general}</FormError>}
        <Button
          type="submit"
          variant="primary"
          className="justify-self-start"
          busy={save.isPending}
          disabled={!file || problem !== undefined}
        >
          Import outcomes
        </Button>
        <div role="status">{save.data && <Result result={save.data} />}</div>
      </Form>
    </Card>
  )
}

const Column = ({ name }: { name: string }) => <code className="text-ink">{name}</code>

const ERRORS_SHOWN = 20

function Result({ result }: { result: OutcomeImportResult }) {
  const { rows, created, changed, failed, errors } = result
  const figures = [
    { label: 'Rows', value: rows },
    { label: 'Created', value: created },
    { label: 'Known already', value: changed },
    { label: 'Failed', value: failed },
  ]
  const more = errors.length - ERRORS_SHOWN
  return (
    <div className="grid gap-4 border-t border-line pt-5">
      <dl className="grid grid-cols-2 gap-3 sm:grid-cols-4">
        {figures.map(({ label, value }) => (
          <div key={label} className="min-w-0 rounded-xl bg-sunken px-3 py-2">
            <dt className="text-sm text-soft">{label}</dt>
            <dd className="text-lg font-semibold tabular-nums">{formatNumber(value)}</dd>
          </div>
        ))}
      </dl>
      {errors.length > 0 && (
        <div className="grid gap-1 text-sm">
          <p className="font-medium">
            {failed === rows ? 'No row is stored.' : 'These rows failed. The others are stored.'}
          </p>
          <ul className="grid gap-1">
            {errors.slice(0, ERRORS_SHOWN).map(({ row, field, message }) => (
              <li key={`${row} ${field}`} className="break-words">
                Row {row}, {field}: <span className="text-danger">{message}</span>
              </li>
            ))}
          </ul>
          {more > 0 && <p className="text-soft">and {formatNumber(more)} more</p>}
        </div>
      )}
    </div>
  )
}
