// File settings of a form: types, sizes and number.

import { Plus } from 'lucide-react'
import { Button } from '../../../../ui/button.tsx'
import { formatExample, Toggle } from '../../../../ui/forms/field.tsx'
import { findItemError } from '../controls/item-error.ts'
import { ListField } from '../controls/list-field.tsx'
import { NumberField } from '../controls/number-field.tsx'
import type { FormDraft, GroupProps } from '../form-draft.ts'
import { SettingsGroup } from '../settings-group.tsx'

const MIB = 1024 * 1024
/** The values of the API where none is named. */
const DEFAULT_UPLOADS = { maxFiles: 5, maxBytes: 10 * MIB, accept: [] }

const PRESETS = [
  { label: 'Images', types: ['image/*'] },
  { label: 'PDF', types: ['.pdf'] },
  {
    label: 'Documents',
    types: [
      '.pdf',
      '.doc',
      '.docx',
      '.odt',
      '.xls',
      '.xlsx',
      '.ods',
      '.ppt',
      '.pptx',
      '.odp',
      '.rtf',
      '.txt',
      '.csv',
    ],
  },
]

export function FilesGroup({ draft, set, errors }: GroupProps) {
  const { uploads } = draft
  return (
    <SettingsGroup id="files" error={errors.uploads}>
      <Toggle
        label="Accept files"
        hint="When off, a submission with a file is rejected, with a message at the field."
        checked={uploads !== null}
        onChange={(event) => set({ uploads: event.target.checked ? DEFAULT_UPLOADS : null })}
      />
      {uploads && (
        <UploadFields
          uploads={uploads}
          errors={errors}
          change={(part) => set({ uploads: { ...uploads, ...part } })}
        />
      )}
    </SettingsGroup>
  )
}

type Uploads = NonNullable<FormDraft['uploads']>

function UploadFields({
  uploads,
  errors,
  change,
}: {
  uploads: Uploads
  errors: Record<string, string>
  change: (part: Partial<Uploads>) => void
}) {
  const { accept } = uploads
  return (
    <>
      <div className="grid gap-5 sm:grid-cols-2">
        <NumberField
          label="Max files"
          hint="In one submission, up to 20."
          defaultsTo={5}
          min={1}
          max={20}
          value={uploads.maxFiles}
          onChange={(maxFiles) => change({ maxFiles })}
          error={errors['uploads.maxFiles']}
        />
        <NumberField
          label="Max file size"
          hint="Up to 100 MB."
          defaultsTo={10}
          unit="MB"
          scale={MIB}
          max={100 * MIB}
          min={1}
          value={uploads.maxBytes}
          onChange={(maxBytes) => change({ maxBytes })}
          error={errors['uploads.maxBytes']}
        />
      </div>
      <div className="grid gap-2">
        <ListField
          label="Accepted types"
          hint="Such as image/*, application/pdf or .pdf. Leave empty to accept all types. The server looks at the content of a file, not only at its name."
          placeholder={formatExample('image/*')}
          value={accept}
          onChange={(next) => change({ accept: next })}
          error={findItemError(errors, 'uploads.accept', accept)}
        />
        <div className="flex flex-wrap items-center gap-2">
          {PRESETS.map(({ label, types }) => (
            <Button
              key={label}
              size="small"
              icon={<Plus size={14} />}
              aria-label={`Accept ${label}`}
              disabled={types.every((type) => accept.includes(type))}
              onClick={() => change({ accept: [...new Set([...accept, ...types])] })}
            >
              {label}
            </Button>
          ))}
        </div>
      </div>
      <p className="text-sm text-soft">
        Files are stored on this server with their submission, and are erased with it. Your form needs a file
        input and <code>enctype="multipart/form-data"</code>: the setup has the code.
      </p>
    </>
  )
}
