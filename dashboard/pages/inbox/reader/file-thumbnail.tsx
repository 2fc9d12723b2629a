// A small picture of an image file. The browser draws it from the download, which is loaded when it comes near the screen:
// in an `img` no script of a file runs, and its type is that of its bytes.

import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect, useState } from 'react'
import { type FileResource, fileImageQuery } from '../../../api/inbox/submission-files.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { useInView } from '../../../ui/use-in-view.ts'

/** Formats that every browser draws. SVG and formats that may need a plug-in are left out. */
const DRAWN = /^image\/(png|jpeg|gif|webp|avif)$/
/** A larger picture is not worth the download. */
const BYTES_MAX = 8 * 1024 * 1024

const hasThumbnail = ({ type, bytes }: FileResource) => DRAWN.test(type) && bytes > 0 && bytes <= BYTES_MAX

/** @param children the icon of files without a picture */
export function FileThumbnail({ file, children }: { file: FileResource; children: ReactNode }) {
  if (!hasThumbnail(file)) return <span className="grid size-12 shrink-0 place-items-center">{children}</span>
  return <Picture file={file}>{children}</Picture>
}

function Picture({ file, children }: { file: FileResource; children: ReactNode }) {
  const { ref, inView } = useInView<HTMLSpanElement>()
  const image = useQuery({ ...fileImageQuery(useApi(), file.id), enabled: inView })
  const [isBroken, setBroken] = useState(false)
  const url = useObjectUrl(image.data)
  return (
    <span
      ref={ref}
      className="grid size-12 shrink-0 place-items-center overflow-hidden rounded-lg border border-line bg-sunken"
    >
      {url && !isBroken ? (
        <img
          src={url}
          alt=""
          loading="lazy"
          decoding="async"
          width={48}
          height={48}
          className="size-full object-cover"
          onError={() => setBroken(true)}
        />
      ) : (
        children
      )}
    </span>
  )
}

function useObjectUrl(blob: Blob | undefined): string | undefined {
  const [url, setUrl] = useState<string>()
  useEffect(() => {
    if (!blob) return
    const created = URL.createObjectURL(blob)
    setUrl(created)
    return () => {
      URL.revokeObjectURL(created)
      setUrl(undefined)
    }
  }, [blob])
  return url
}
