// A new import: choose the files, check their format, map their columns and domains, and run a dry run before anything
// changes.

import { useEffect, useRef } from 'react'
import type { LinkSourceName, OnConflict } from '../../../api/transfer/imports.ts'
import { LARGE_FILE_MAX, LINKS_FILE_MAX } from '../../../api/transfer/imports.ts'
import { useWorkspace } from '../../../shell/use-workspace.ts'
import { Button } from '../../../ui/button.tsx'
import { Card } from '../../../ui/card.tsx'
import { focusIfLost } from '../../../ui/focus.ts'
import { formatBytes } from '../../../ui/format.ts'
import { SelectField } from '../../../ui/forms/field.tsx'
import { FileDrop } from '../../../ui/forms/file-drop.tsx'
import { Form } from '../../../ui/forms/form.tsx'
import { FormError } from '../../../ui/forms/form-error.tsx'
import { RadioList, type RadioOption } from '../../../ui/forms/radio-list.tsx'
import { LeaveDialog } from '../../../ui/overlays/leave-dialog.tsx'
import { ProgressBar } from '../../../ui/progress-bar.tsx'
import { formatWholePercent } from '../import-state.ts'
import { IMPORT_SOURCE_NAMES, SOURCES, toSourcePhrase } from '../source-names.ts'
import { ColumnMapping } from './column-mapping.tsx'
import { DateOrderChoice, TimeZoneField } from './date-fields.tsx'
import { listDates } from './date-order.ts'
import { DomainMapping } from './domain-mapping.tsx'
import { RecognizedFile } from './recognized-file.tsx'
import { useNewImport } from './use-new-import.ts'

type NewImportState = ReturnType<typeof useNewImport>

export function NewImport() {
  const state = useNewImport()
  const { draft, source, inspection, start, errors, change } = state
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => {
    if (start.error) form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus()
  }, [start.error])
  useEffect(() => {
    // A file that is dropped beside its field would replace the page.
    const prevent = (event: Event) => event.preventDefault()
    addEventListener('dragover', prevent)
    addEventListener('drop', prevent)
    return () => {
      removeEventListener('dragover', prevent)
      removeEventListener('drop', prevent)
    }
  }, [])
  const isReady =
    draft.file !== null && source !== undefined && (draft.inspection || inspection.part === null)
  const isBusy = inspection.part !== null || start.part !== null
  return (
    <Form
      ref={form}
      noValidate
      aria-label="New import"
      className="grid min-w-0 grid-cols-1 gap-6"
      onSubmit={() => {
        if (isReady && !isBusy) state.begin(true)
      }}
    >
      <Files state={state} />
      {draft.inspection && source && <RecognizedFile inspection={draft.inspection} source={source} />}
      {draft.inspection && source === 'csv' && (
        <ColumnMapping
          inspection={draft.inspection}
          mapping={draft.mapping}
          errors={errors}
          change={state.changeMapping}
        />
      )}
      {draft.inspection && draft.inspection.hosts.length > 0 && (
        <DomainMapping
          hosts={draft.inspection.hosts}
          domainMap={draft.domainMap}
          errors={errors}
          change={(domainMap) => change({ domainMap })}
        />
      )}
      {draft.inspection?.ambiguousDates && (
        <DateOrderChoice
          samples={listDates(draft.inspection)}
          order={draft.dateOrder}
          error={errors.dateOrder}
          change={(dateOrder) => change({ dateOrder })}
        />
      )}
      {isReady && <Start state={state} source={source} />}
      <LeaveDialog
        isBlocked={() => start.part !== null}
        title="Stop the upload?"
        action="Stop and leave"
        cancel="Stay"
      >
        <p>The upload ends when you leave this page, and nothing is imported.</p>
      </LeaveDialog>
    </Form>
  )
}

function Files({ state }: { state: NewImportState }) {
  const { draft, source, inspection, start, errors, change } = state
  const isStarting = start.part !== null
  const info = source && SOURCES[source]
  return (
    <Card title="New import">
      <div className="grid grid-cols-1 gap-5">
        <p className="text-soft">
          Imports short links, titles, tags, dates and targets, and the click history where the tool exports
          it. You see what would be imported before anything changes.
        </p>
        <SourceField state={state} />
        <FileDrop
          label="File with the links"
          hint={`At most ${formatBytes(LINKS_FILE_MAX)}, or ${formatBytes(LARGE_FILE_MAX)} for a workspace of Towpath.`}
          error={errors.file}
          file={draft.file}
          disabled={isStarting}
          choose={state.chooseFile}
          remove={state.removeFile}
        />
        <UploadState
          part={inspection.part}
          label="Reading the file"
          cancel={() => {
            // Without a preview, there is no information about a file.
            if (draft.inspection) inspection.cancel()
            else state.removeFile()
            focusIfLost('input[type=file]')
          }}
        />
        {(draft.clicks || info?.clicks || !source) && (
          <FileDrop
            label="Click history (optional)"
            hint={info?.clicks ?? `A second file with single clicks, at most ${formatBytes(LARGE_FILE_MAX)}.`}
            error={errors.clicks}
            file={draft.clicks}
            disabled={isStarting}
            choose={state.chooseClicks}
            remove={() => change({ clicks: null, dryRunId: null })}
          />
        )}
        {draft.clicks && !draft.file && (
          <p role="status" className="text-sm text-soft">
            {draft.clicks.name} has clicks. Choose the file with the links too.
          </p>
        )}
      </div>
    </Card>
  )
}

function SourceField({ state: { draft, start, errors, change } }: { state: NewImportState }) {
  const chosen = draft.source && SOURCES[draft.source]
  return (
    <SelectField
      label="From"
      className="grid-cols-1"
      error={errors.source}
      hint={chosen ? chosen.file : 'Choose a tool to see which file it needs.'}
      value={draft.source}
      disabled={start.part !== null}
      onChange={({ target }) => change({ source: target.value as LinkSourceName | '' })}
      options={IMPORT_SOURCE_NAMES.map((name) => [name, SOURCES[name].title])}
    >
      <option value="">Detect automatically</option>
    </SelectField>
  )
}

function Start({ state, source }: { state: NewImportState; source: LinkSourceName }) {
  const { draft, inspection, start, errors, change } = state
  const isStarting = start.part !== null
  const isReading = inspection.part !== null
  const { role } = useWorkspace()
  if (source === 'towpath' && role !== 'owner')
    return (
      <p role="note" className="rounded-2xl border border-line bg-card p-5">
        Only owners can import an export of Towpath: it may have more than links. Ask an owner of the
        workspace.
      </p>
    )
  return (
    <Card title="How to import">
      <fieldset disabled={isStarting} className="grid grid-cols-1 gap-5">
        <ConflictChoice
          value={draft.onConflict}
          error={errors.onConflict}
          change={(onConflict) => change({ onConflict })}
        />
        {source !== 'towpath' && (
          <TimeZoneField
            zone={draft.timeZone}
            error={errors.timeZone}
            change={(timeZone) => change({ timeZone })}
          />
        )}
      </fieldset>
      <div className="mt-5 grid gap-4 border-t border-line pt-5">
        {errors.general && <FormError>{errors.general}</FormError>}
        <UploadState
          part={start.part}
          label="Uploading"
          cancel={() => {
            start.cancel()
            focusIfLost('form button[type=submit]')
          }}
        />
        {!isStarting && (
          <div className="flex flex-wrap items-center gap-2">
            <Button type="submit" variant="primary" busy={isReading}>
              Dry run
            </Button>
            <Button busy={isReading} onClick={() => state.begin(false)}>
              Import now
            </Button>
            <p className="min-w-0 flex-1 basis-60 text-sm text-soft">
              A dry run shows what would come from {toSourcePhrase(source)}, row by row, and changes nothing.
            </p>
          </div>
        )}
      </div>
    </Card>
  )
}

const CONFLICT_CHOICES: RadioOption<OnConflict>[] = [
  {
    value: 'skip',
    name: 'Skip the link',
    about: 'The existing link stays as it is. The result lists the skipped links.',
  },
  {
    value: 'rename',
    name: 'Rename the link',
    about: 'The new link gets a number at its end, such as sale-2.',
  },
  {
    value: 'fail',
    name: 'Import nothing',
    about: 'One taken short link stops the whole import, and nothing changes.',
  },
]

interface ConflictChoiceProps {
  value: OnConflict
  error: string | undefined
  change: (value: OnConflict) => void
}

/** Choice for links whose short link is taken: skip them, rename them, or import nothing. */
const ConflictChoice = (props: ConflictChoiceProps) => (
  <RadioList legend="If a short link is taken" options={CONFLICT_CHOICES} {...props} />
)

interface UploadStateProps {
  part: number | null
  label: string
  cancel: () => void
}

function UploadState({ part, label, cancel }: UploadStateProps) {
  if (part === null) return null
  return (
    <div className="grid gap-2">
      <div className="flex items-center gap-3">
        <p role="status" className="min-w-0 flex-1 text-sm">
          {part < 1 ? label : 'The server is reading the file'}
          <span aria-hidden> {part < 1 ? formatWholePercent(part) : '…'}</span>
        </p>
        <Button size="small" onClick={cancel}>
          Cancel
        </Button>
      </div>
      <ProgressBar label={label} part={part < 1 ? part : null} />
    </div>
  )
}
