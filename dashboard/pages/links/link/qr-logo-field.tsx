// Chooses the logo in the middle of a QR code: none, the one of the workspace, or a picture for this code only.

import { useRef, useState } from 'react'
import { Button } from '../../../ui/button.tsx'
import { Field, Select } from '../../../ui/forms/field.tsx'
import { toLogo } from '../../../ui/forms/to-logo.ts'

/** The sides to try: a picture has at most 64 KiB, which a photograph of the larger side can exceed. */
const SIDES = [256, 128]
const DATA_URL_MAX = 64 * 1024

async function toSmallLogo(file: File): Promise<string> {
  for (const side of SIDES) {
    const url = await toLogo(file, side, side)
    if (url.length <= DATA_URL_MAX) return url
  }
  throw new Error('too large')
}

interface Props {
  /** `brand`, a data URL, or null. */
  logo: string | null
  brandLogo: string | null
  onChange: (logo: string | null) => void
}

export function QrLogoField({ logo, brandLogo, onChange }: Props) {
  const input = useRef<HTMLInputElement>(null)
  const [problem, setProblem] = useState<string>()
  async function upload(file: File | undefined) {
    if (!file) return
    setProblem(undefined)
    try {
      onChange(await toSmallLogo(file))
    } catch {
      setProblem('This picture can’t be read. Choose a simpler one, as PNG or SVG.')
    }
  }
  const choose = (value: string) => {
    if (value === 'upload') return input.current?.click()
    setProblem(undefined)
    onChange(value === '' ? null : value)
  }
  const isOwn = logo !== null && logo !== 'brand'
  return (
    <Field
      label="Logo"
      error={problem}
      hint="A logo makes the code denser, so that phones read it all the same."
    >
      {(control) => (
        <div className="flex items-center gap-2">
          <Select
            {...control}
            value={isOwn ? 'own' : (logo ?? '')}
            onChange={({ target }) => choose(target.value)}
          >
            <option value="">No logo</option>
            {brandLogo && <option value="brand">Logo of the workspace</option>}
            {isOwn && <option value="own">Your picture</option>}
            <option value="upload">{isOwn ? 'Choose another picture' : 'Choose a picture'}</option>
          </Select>
          {isOwn && (
            <Button
              onClick={() => {
                setProblem(undefined)
                onChange(null)
              }}
            >
              Remove
            </Button>
          )}
          <input
            ref={input}
            type="file"
            accept="image/png,image/svg+xml,image/jpeg,image/webp"
            hidden
            aria-label="Picture for the logo"
            onChange={({ target }) => {
              void upload(target.files?.[0])
              // The same file can be chosen again.
              target.value = ''
            }}
          />
        </div>
      )}
    </Field>
  )
}
