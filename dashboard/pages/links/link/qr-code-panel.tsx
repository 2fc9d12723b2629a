// The QR code of a link: preview, colors, and downloads as SVG and PNG.

import { useQuery } from '@tanstack/react-query'
import { Download } from 'lucide-react'
import { useEffect, useState } from 'react'
import type { LinkResource } from '../../../../server/features/links/schema.ts'
import { ApiError } from '../../../api/client.ts'
import { fetchQrCode, type QrOptions } from '../../../api/links.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { Button } from '../../../ui/button.tsx'
import { ColorField } from '../../../ui/forms/color-field.tsx'
import { Field, Select } from '../../../ui/forms/field.tsx'
import { toastError } from '../../../ui/overlays/toast.tsx'
import { saveFile } from '../../../ui/save-file.ts'
import { Skeleton } from '../../../ui/skeleton.tsx'

const SIZES = [256, 512, 1024, 2048]
const PREVIEW_SIZE = 512

const withoutHash = (color: string) => color.replace('#', '')

export function QrCodePanel({ link }: { link: LinkResource }) {
  const api = useApi()
  const [dark, setDark] = useState('#000000')
  const [light, setLight] = useState('#ffffff')
  const [size, setSize] = useState(1024)
  const options: QrOptions = { color: withoutHash(dark), background: withoutHash(light) }
  const { url: imageUrl, problem } = useImageUrl(link, options)
  const save = async (format: 'svg' | 'png') => {
    try {
      // No file name has a slash.
      const name = `${link.slug.replaceAll('/', '-')}.${format}`
      saveFile(await fetchQrCode(api, link.id, format, { ...options, size }), name)
    } catch (error) {
      toastError(error, 'Couldn’t download')
    }
  }
  return (
    <div className="grid justify-items-center gap-5 sm:grid-cols-[12rem_minmax(0,1fr)] sm:items-start">
      {imageUrl ? (
        <img
          src={imageUrl}
          alt={`QR code of ${link.domain}/${link.slug}`}
          className="size-48 rounded-xl border border-line"
        />
      ) : (
        <Skeleton className="size-48 rounded-xl" />
      )}
      <div className="grid w-full gap-4">
        <div className="grid grid-cols-2 gap-3">
          <ColorField required label="Color" value={dark} onChange={setDark} />
          <ColorField required label="Background" value={light} onChange={setLight} />
        </div>
        <p role="status" className="text-sm text-danger empty:hidden">
          {problem}
        </p>
        <Field label="PNG size">
          {(control) => (
            <Select {...control} value={size} onChange={({ target }) => setSize(Number(target.value))}>
              {SIZES.map((pixels) => (
                <option key={pixels} value={pixels}>
                  {pixels} × {pixels} pixels
                </option>
              ))}
            </Select>
          )}
        </Field>
        <div className="flex flex-wrap gap-2">
          <Button icon={<Download size={15} />} onClick={() => void save('svg')}>
            SVG
          </Button>
          <Button icon={<Download size={15} />} onClick={() => void save('png')}>
            PNG
          </Button>
        </div>
        <p className="text-sm text-soft">To see how many clicks are scans, filter analytics by trigger.</p>
      </div>
    </div>
  )
}

/**
 * A URL for `<img>`. The page loads the image itself, because the request needs a header that `<img>` cannot send.
 */
function useImageUrl(link: LinkResource, options: QrOptions): { url?: string; problem?: string } {
  const api = useApi()
  const { data, error } = useQuery({
    queryKey: [api.workspaceId, 'links', 'qr', link.id, link.shortUrl, options],
    queryFn: () => fetchQrCode(api, link.id, 'svg', { ...options, size: PREVIEW_SIZE }),
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: (previous) => previous,
  })
  const [url, setUrl] = useState<string>()
  useEffect(() => {
    if (!data) return
    const objectUrl = URL.createObjectURL(data)
    setUrl(objectUrl)
    return () => URL.revokeObjectURL(objectUrl)
  }, [data])
  return { url, problem: error ? describeProblem(error) : undefined }
}

/** The server says what to change about the colors. */
function describeProblem(error: Error): string {
  const fields = error instanceof ApiError ? Object.entries(error.errors) : []
  return fields.map(([field, problem]) => `The ${field} ${problem}.`).join(' ') || error.message
}
