// A field for one file, which can be dropped on it or chosen. The field keeps the focus when a file is chosen.

import { FileText, Upload, X } from 'lucide-react'
import { type DragEvent, useId, useState } from 'react'
import { IconButton } from '../button.tsx'
import { classNames } from '../class-names.ts'
import { formatBytes } from '../format.ts'

interface Props {
  label: string
  hint: string
  error: string | undefined
  file: File | null
  /** The kinds of files that the browser offers, such as `.csv`. */
  accept?: string
  disabled?: boolean
  /** At least one file. */
  choose: (files: File[]) => void
  remove: () => void
}

export function FileDrop({ label, hint, error, file, accept, disabled = false, choose, remove }: Props) {
  const id = useId()
  const [isOver, setOver] = useState(false)
  const take = (list: FileList | null) => {
    if (list && list.length > 0 && !disabled) choose([...list])
  }
  const drop = {
    onDragOver(event: DragEvent) {
      event.preventDefault()
      setOver(!disabled)
    },
    onDragLeave: () => setOver(false),
    onDrop(event: DragEvent) {
      event.preventDefault()
      setOver(false)
      take(event.dataTransfer.files)
    },
  }
  return (
    <div className="grid grid-cols-1 gap-1.5">
      <p className="text-sm font-medium" id={`${id}-label`}>
        {label}
      </p>
      <div
        {...drop}
        className={classNames(
          'relative flex min-h-18 items-center gap-3 rounded-xl border border-dashed px-4 py-3 has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent',
          isOver ? 'border-accent bg-tint' : error ? 'border-danger' : 'border-strong hover:bg-hover',
        )}
      >
        <ChosenFile file={file} />
        <input
          type="file"
          accept={accept}
          aria-labelledby={`${id}-label`}
          aria-describedby={classNames(error && `${id}-error`, `${id}-hint`)}
          aria-invalid={error !== undefined}
          disabled={disabled}
          className="absolute inset-0 cursor-pointer opacity-0 disabled:cursor-not-allowed"
          onChange={({ target }) => {
            take(target.files)
            // The same file can be chosen again, after it was changed.
            target.value = ''
          }}
        />
        {file && !disabled && (
          <IconButton label={`Remove ${file.name}`} className="relative" onClick={remove}>
            <X size={16} />
          </IconButton>
        )}
      </div>
      {error && (
        <p id={`${id}-error`} role="alert" className="text-sm break-words text-danger">
          {error}
        </p>
      )}
      <p id={`${id}-hint`} className="text-sm text-soft">
        {hint}
      </p>
    </div>
  )
}

function ChosenFile({ file }: Pick<Props, 'file'>) {
  const Icon = file ? FileText : Upload
  return (
    <>
      <Icon size={20} className={file ? undefined : 'text-soft'} aria-hidden />
      {file ? (
        <p className="min-w-0 flex-1">
          <span className="block font-medium wrap-anywhere">{file.name}</span>
          <span className="text-sm text-soft">{formatBytes(file.size)}. Choose or drop another one.</span>
        </p>
      ) : (
        <p className="min-w-0 flex-1">
          <span className="font-medium text-accent">Choose a file</span>
          <span className="max-sm:hidden"> or drop it here</span>
        </p>
      )}
    </>
  )
}
