// Preview of a file: the beginning of its text. It is drawn as text, so no markup in it takes effect.

import { useQuery } from '@tanstack/react-query'
import { type FileResource, filePreviewQuery } from '../../../api/inbox/submission-files.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { Button } from '../../../ui/button.tsx'
import { ErrorState } from '../../../ui/error-state.tsx'
import { formatBytes } from '../../../ui/format.ts'
import { Dialog } from '../../../ui/overlays/dialog.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'

export default function FilePreviewDialog({ file, onClose }: { file: FileResource; onClose: () => void }) {
  const preview = useQuery(filePreviewQuery(useApi(), file.id))
  return (
    <Dialog
      wide
      onClose={onClose}
      title={<span className="break-all">{file.name}</span>}
      description={`${formatBytes(file.bytes)}, ${file.type}`}
      footer={<Button onClick={onClose}>Close</Button>}
    >
      {preview.isPending && <Skeleton className="h-60" />}
      {preview.isError && <ErrorState error={preview.error} retry={() => void preview.refetch()} />}
      {preview.data?.kind === 'none' && (
        <p>There is no preview for this type of file. Download it to view it.</p>
      )}
      {preview.data?.kind === 'text' && (
        <div className="grid grid-cols-[minmax(0,1fr)] gap-2">
          <pre
            // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users must be able to scroll it
            tabIndex={0}
            className="max-h-[55dvh] overflow-auto rounded-lg bg-sunken p-3 text-sm break-words whitespace-pre-wrap"
          >
            {preview.data.text}
          </pre>
          {preview.data.truncated && (
            <p className="text-sm text-soft">This is the beginning. Download the file to see all of it.</p>
          )}
        </div>
      )}
    </Dialog>
  )
}
