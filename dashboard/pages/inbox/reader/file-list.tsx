// The files of a submission, each with its size and type, a preview where there is one, and its download.

import { useMutation } from '@tanstack/react-query'
import { Download, Eye, File, FileImage, FileText } from 'lucide-react'
import { useState } from 'react'
import { downloadFile, downloadFiles, type FileResource } from '../../../api/inbox/submission-files.ts'
import type { Submission } from '../../../api/submissions.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { Button, IconButton } from '../../../ui/button.tsx'
import { Card } from '../../../ui/card.tsx'
import { formatBytes, formatCount } from '../../../ui/format.ts'
import { lazyPart } from '../../../ui/lazy-part.tsx'
import { toastError } from '../../../ui/overlays/toast.tsx'
import { saveFile } from '../../../ui/save-file.ts'
import { toFieldLabel, useFormOf } from '../state/field-labels.ts'
import { FileThumbnail } from './file-thumbnail.tsx'

const FilePreviewDialog = lazyPart(() => import('../dialogs/file-preview-dialog.tsx'), 'default')

/** The types that the server previews. Their bytes show them, not their names. */
const hasPreview = ({ type }: FileResource) => type.startsWith('text/') || type === 'application/json'

const TYPE_LABELS: Record<string, string> = {
  'text/plain': 'Text',
  'application/pdf': 'PDF',
  'application/zip': 'ZIP',
  'application/octet-stream': 'Unknown type',
}
const toTypeLabel = (type: string) => TYPE_LABELS[type] ?? type.replace(/^image\//, '').toUpperCase()

const toIcon = ({ type }: FileResource) =>
  type.startsWith('image/') ? FileImage : type.startsWith('text/') ? FileText : File

export function FileList({ submission }: { submission: Submission }) {
  const api = useApi()
  const { files } = submission
  const labels = useFormOf(submission)?.fieldLabels ?? {}
  const [shown, setShown] = useState<FileResource>()
  const saveAll = useMutation({
    mutationFn: () => downloadFiles(api, submission.id),
    onSuccess: saveFile,
    onError: (error) => toastError(error, 'Couldn’t download the files'),
  })
  return (
    <Card
      title={formatCount(files.length, 'file')}
      actions={
        files.length > 1 && (
          <Button
            size="small"
            icon={<Download size={15} />}
            busy={saveAll.isPending}
            onClick={() => saveAll.mutate()}
          >
            Download all
          </Button>
        )
      }
    >
      <ul aria-label="Files" className="-my-2 divide-y divide-line">
        {files.map((file) => (
          <FileItem
            key={file.id}
            file={file}
            label={toFieldLabel(labels, file.field)}
            show={() => setShown(file)}
          />
        ))}
      </ul>
      {shown && <FilePreviewDialog file={shown} onClose={() => setShown(undefined)} />}
    </Card>
  )
}

interface FileItemProps {
  file: FileResource
  /** The size limit of its field. */
  label: string
  show: () => void
}

function FileItem({ file, label, show }: FileItemProps) {
  const api = useApi()
  const Icon = toIcon(file)
  const save = useMutation({
    mutationFn: () => downloadFile(api, file),
    onSuccess: saveFile,
    onError: (error) => toastError(error, `Couldn’t download ${file.name}`),
  })
  return (
    <li className="flex items-center gap-3 py-2">
      <FileThumbnail file={file}>
        <Icon size={20} aria-hidden className="text-soft" />
      </FileThumbnail>
      <span className="grid min-w-0 flex-1">
        <span className="truncate font-medium" title={file.name}>
          {file.name}
        </span>
        <span className="truncate text-sm text-soft">
          {formatBytes(file.bytes)} · {toTypeLabel(file.type)} · {label}
        </span>
      </span>
      {hasPreview(file) && (
        <IconButton label={`Preview ${file.name}`} onClick={show}>
          <Eye size={17} />
        </IconButton>
      )}
      <IconButton
        label={`Download ${file.name}`}
        aria-busy={save.isPending || undefined}
        onClick={() => !save.isPending && save.mutate()}
      >
        <Download size={17} />
      </IconButton>
    </li>
  )
}
