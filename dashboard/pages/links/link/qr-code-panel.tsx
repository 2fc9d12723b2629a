// The QR code of a link, also of one that is not saved yet: preview, colors, shapes, a logo, downloads, and a copy.

import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Copy, Download } from 'lucide-react'
import { useEffect, useState } from 'react'
import { ApiError } from '../../../api/client.ts'
import { drawQr, type QrDrawing, type QrStyle } from '../../../api/qr.ts'
import { workspaceQuery } from '../../../api/workspace.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { Button } from '../../../ui/button.tsx'
import { ColorField } from '../../../ui/forms/color-field.tsx'
import { SelectField } from '../../../ui/forms/field.tsx'
import { useDebounced } from '../../../ui/forms/use-debounced.ts'
import { toast, toastError } from '../../../ui/overlays/toast.tsx'
import { saveFile } from '../../../ui/save-file.ts'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { QrLogoField } from './qr-logo-field.tsx'

const SIZES = [256, 512, 1024, 2048]
const MARGINS = [0, 2, 4, 8]
const STYLES: Record<QrStyle, string> = { square: 'Square', rounded: 'Rounded', dots: 'Dots' }
const PREVIEW_SIZE = 512
const TYPING_MS = 250

type Look = Required<Pick<QrDrawing, 'color' | 'background' | 'dots' | 'corners' | 'margin' | 'logo'>>

const PLAIN: Look = {
  color: '#000000',
  background: '#ffffff',
  dots: 'square',
  corners: 'square',
  margin: 4,
  logo: null,
}

interface Props {
  /** '' for a link that gets a random slug. */
  slug: string
  domain: string | undefined
}

export function QrCodePanel({ slug, domain }: Props) {
  const api = useApi()
  const [look, setLook] = useState(PLAIN)
  const [size, setSize] = useState(1024)
  const change = (part: Partial<Look>) => setLook((before) => ({ ...before, ...part }))
  const { data: workspace } = useQuery(workspaceQuery(api))
  const drawing: QrDrawing = { slug, domain, ...look }
  const { url: imageUrl, problem } = useImageUrl(drawing)
  const draw = (format: 'svg' | 'png') => drawQr(api, format, { ...drawing, size })
  const save = async (format: 'svg' | 'png') => {
    try {
      // No file name has a slash.
      saveFile({ file: await draw(format), name: `${slug.replaceAll('/', '-')}.${format}` })
    } catch (error) {
      toastError(error, 'Couldn’t download')
    }
  }
  const isReady = slug !== '' && problem === undefined
  return (
    <div className="grid justify-items-center gap-5 sm:grid-cols-[12rem_minmax(0,1fr)] sm:items-start">
      <Preview slug={slug} url={imageUrl} hasProblem={problem !== undefined} />
      <div className="grid w-full gap-4">
        <div className="grid grid-cols-2 gap-3">
          <ColorField required label="Color" value={look.color} onChange={(color) => change({ color })} />
          <ColorField
            required
            label="Background"
            value={look.background}
            onChange={(background) => change({ background })}
          />
          <Style label="Dots" value={look.dots} onChange={(dots) => change({ dots })} />
          <Style label="Corners" value={look.corners} onChange={(corners) => change({ corners })} />
          <Choice
            label="Margin"
            value={look.margin}
            options={MARGINS.map((modules) => [modules, modules === 0 ? 'None' : `${modules} dots`])}
            onChange={(margin) => change({ margin: Number(margin) })}
          />
          <Choice
            label="PNG size"
            value={size}
            options={SIZES.map((pixels) => [pixels, `${pixels} pixels`])}
            onChange={(pixels) => setSize(Number(pixels))}
          />
        </div>
        <QrLogoField
          logo={look.logo}
          brandLogo={workspace?.brand.logo ?? null}
          onChange={(logo) => change({ logo })}
        />
        <p role="status" className="text-sm text-danger empty:hidden">
          {problem}
        </p>
        <div className="flex flex-wrap gap-2">
          <Button disabled={!isReady} icon={<Download size={15} />} onClick={() => void save('svg')}>
            SVG
          </Button>
          <Button disabled={!isReady} icon={<Download size={15} />} onClick={() => void save('png')}>
            PNG
          </Button>
          <Button disabled={!isReady} icon={<Copy size={15} />} onClick={() => void copy(draw('png'))}>
            Copy
          </Button>
        </div>
        <p className="text-sm text-soft">To see how many clicks are scans, filter analytics by trigger.</p>
      </div>
    </div>
  )
}

/** Passes the promise, because Safari requires that the copy begins with the click. */
async function copy(png: Promise<Blob>) {
  try {
    await navigator.clipboard.write([new ClipboardItem({ 'image/png': png })])
    toast('QR code copied', { forMs: 2000 })
  } catch (error) {
    toastError(error, 'Couldn’t copy')
  }
}

interface PreviewProps {
  slug: string
  url: string | undefined
  hasProblem: boolean
}

function Preview({ slug, url, hasProblem }: PreviewProps) {
  if (slug === '')
    return (
      <p className="grid size-48 place-items-center rounded-xl border border-dashed border-strong p-5 text-center text-sm text-soft">
        Enter a slug to see the code. A random slug is drawn when you create the link.
      </p>
    )
  if (url)
    return <img src={url} alt={`QR code of ${slug}`} className="size-48 rounded-xl border border-line" />
  return hasProblem ? (
    <div className="size-48 rounded-xl border border-dashed border-strong" />
  ) : (
    <Skeleton className="size-48 rounded-xl" />
  )
}

interface ChoiceProps<T extends string | number> {
  label: string
  value: T
  options: readonly (readonly [value: T, label: string])[]
  onChange: (value: string) => void
}

const Choice = <T extends string | number>({ label, value, options, onChange }: ChoiceProps<T>) => (
  <SelectField
    label={label}
    value={value}
    onChange={({ target }) => onChange(target.value)}
    options={options}
  />
)

interface StyleProps {
  label: string
  value: QrStyle
  onChange: (style: QrStyle) => void
}

const Style = ({ label, value, onChange }: StyleProps) => (
  <Choice
    label={label}
    value={value}
    options={Object.entries(STYLES) as [QrStyle, string][]}
    onChange={(style) => onChange(style as QrStyle)}
  />
)

/** A URL for `<img>`. The page loads the image itself, because the request needs a header that `<img>` cannot send. */
function useImageUrl(drawing: QrDrawing): { url?: string; problem?: string } {
  const api = useApi()
  const wanted = JSON.stringify({ ...drawing, size: PREVIEW_SIZE })
  const settled = useDebounced(wanted, TYPING_MS)
  const { data, error } = useQuery({
    queryKey: [api.workspaceId, 'links', 'qr', settled],
    queryFn: ({ signal }) => drawQr(api, 'svg', JSON.parse(settled) as QrDrawing, { signal }),
    enabled: (JSON.parse(settled) as QrDrawing).slug !== '',
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
    placeholderData: keepPreviousData,
  })
  const [url, setUrl] = useState<string>()
  useEffect(() => {
    if (!data) return setUrl(undefined)
    const objectUrl = URL.createObjectURL(data)
    setUrl(objectUrl)
    return () => URL.revokeObjectURL(objectUrl)
  }, [data])
  return { url, problem: error ? describeProblem(error) : undefined }
}

/** The server says what to change. */
function describeProblem(error: Error): string {
  const fields = error instanceof ApiError ? Object.entries(error.errors) : []
  return fields.map(([field, problem]) => `The ${field} ${problem}.`).join(' ') || error.message
}
