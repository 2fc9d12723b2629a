// What the server shows of a file: an image that it has drawn again, or the beginning of a text.

import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
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
      open
      wide
      onClose={onClose}
      title={<span className="break-all">{file.name}</span>}
      description={`${formatBytes(file.bytes)}, ${file.type}`}
      footer={<Button onClick={onClose}>Close</Button>}
    >
      {preview.isPending && <Skeleton className="h-60" />}
      {preview.isError && <ErrorState error={preview.error} retry={() => void preview.refetch()} />}
      {preview.data &&
        (preview.data.type.startsWith('image/') ? (
          <PreviewImage image={preview.data} name={file.name} />
        ) : (
          <PreviewText text={preview.data} bytes={file.bytes} />
        ))}
    </Dialog>
  )
}

function PreviewImage({ image, name }: { image: Blob; name: string }) {
  const [url, setUrl] = useState<string>()
  useEffect(() => {
    const created = URL.createObjectURL(image)
    setUrl(created)
    return () => URL.revokeObjectURL(created)
  }, [image])
  return url && <img src={url} alt={name} className="mx-auto max-h-[60dvh] max-w-full rounded-lg" />
}

function PreviewText({ text, bytes }: { text: Blob; bytes: number }) {
  const [content, setContent] = useState<string>()
  useEffect(() => {
    let isShown = true
    void text.text().then((read) => isShown && setContent(read))
    return () => {
      isShown = false
    }
  }, [text])
  return (
    <div className="grid gap-2">
      <pre
        // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users must be able to scroll it
        tabIndex={0}
        className="max-h-[55dvh] overflow-auto rounded-lg bg-sunken p-3 text-sm break-words whitespace-pre-wrap"
      >
        {content}
      </pre>
      {text.size < bytes && (
        <p className="text-sm text-soft">The first {formatBytes(text.size)}. The download has all of it.</p>
      )}
    </div>
  )
}
