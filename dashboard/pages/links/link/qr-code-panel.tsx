// The QR code of a link, as it will be printed, and the files of it.

import { useQuery } from '@tanstack/react-query'
import { Download } from 'lucide-react'
import { useEffect, useState } from 'react'
import type { LinkResource } from '../../../../server/features/links/schema.ts'
import { fetchQrCode, type QrOptions } from '../../../api/links.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { Button } from '../../../ui/button.tsx'
import { Field, Input, Select } from '../../../ui/forms/field.tsx'
import { toastError } from '../../../ui/overlays/toast.tsx'
import { Skeleton } from '../../../ui/states.tsx'

const SIZES = [256, 512, 1024, 2048]
const PREVIEW_SIZE = 512

const bare = (color: string) => color.replace('#', '')

export function QrCodePanel({ link }: { link: LinkResource }) {
  const api = useApi()
  const [dark, setDark] = useState('#000000')
  const [light, setLight] = useState('#ffffff')
  const [size, setSize] = useState(1024)
  const look: QrOptions = { color: bare(dark), background: bare(light) }
  const picture = usePicture(link, look)
  const save = async (format: 'svg' | 'png') => {
    try {
      download(await fetchQrCode(api, link.id, format, { ...look, size }), `${link.slug}.${format}`)
    } catch (error) {
      toastError(error, 'Not downloaded')
    }
  }
  return (
    <div className="grid justify-items-center gap-5 sm:grid-cols-[12rem_minmax(0,1fr)] sm:items-start">
      {picture ? (
        <img
          src={picture}
          alt={`QR code of ${link.domain}/${link.slug}`}
          className="size-48 rounded-xl border border-line"
        />
      ) : (
        <Skeleton className="size-48 rounded-xl" />
      )}
      <div className="grid w-full gap-4">
        <div className="grid grid-cols-2 gap-3">
          <Color label="Color" value={dark} onChange={setDark} />
          <Color label="Background" value={light} onChange={setLight} />
        </div>
        <Field label="Size of the PNG">
          {(control) => (
            <Select {...control} value={size} onChange={({ target }) => setSize(Number(target.value))}>
              {SIZES.map((one) => (
                <option key={one} value={one}>
                  {one} × {one} pixels
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
        <p className="text-sm text-soft">Scans are counted apart from clicks: filter analytics by trigger.</p>
      </div>
    </div>
  )
}

const Color = ({
  label,
  value,
  onChange,
}: {
  label: string
  value: string
  onChange: (color: string) => void
}) => (
  <Field label={label}>
    {(control) => (
      <Input
        {...control}
        type="color"
        className="p-1!"
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
    )}
  </Field>
)

/** As a URL for <img>: the request needs a header, which an image cannot send. */
function usePicture(link: LinkResource, look: QrOptions): string | undefined {
  const api = useApi()
  const { data } = useQuery({
    queryKey: [api.workspaceId, 'links', 'qr', link.id, link.shortUrl, look],
    queryFn: () => fetchQrCode(api, link.id, 'svg', { ...look, size: PREVIEW_SIZE }),
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: (before) => before,
  })
  const [url, setUrl] = useState<string>()
  useEffect(() => {
    if (!data) return
    const made = URL.createObjectURL(data)
    setUrl(made)
    return () => URL.revokeObjectURL(made)
  }, [data])
  return url
}

function download(blob: Blob, name: string) {
  const url = URL.createObjectURL(blob)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}
