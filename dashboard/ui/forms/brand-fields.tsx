// The fields of a brand, of a workspace or of one form, with a preview of the page that visitors get.

import { useId, useState } from 'react'
import type { BrandResource } from '../../../server/features/accounts/brand/schema.ts'
import { Button, buttonClassNames } from '../button.tsx'
import { classNames } from '../class-names.ts'
import { ColorField } from './color-field.tsx'
import { formatExample, TextareaField, TextField } from './field.tsx'
import { findFieldError } from './form-error.tsx'
import { toLogo } from './to-logo.ts'

export interface BrandFieldsProps {
  brand: BrandResource
  /** The inherited value of an empty field. */
  inherited?: BrandResource
  errors: Record<string, string>
  disabled?: boolean
  change: (part: Partial<BrandResource>) => void
}

export function BrandFields({ brand, inherited, errors, disabled, change }: BrandFieldsProps) {
  const bind = (name: Exclude<keyof BrandResource, 'logo'>) => ({
    value: brand[name] ?? '',
    disabled,
    error: findFieldError(errors, `brand.${name}`),
    placeholder: inherited?.[name] ?? undefined,
    autoComplete: 'off',
    onChange: ({ target }: { target: { value: string } }) => change({ [name]: target.value || null }),
  })
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-5">
      <TextField
        label="Name"
        maxLength={60}
        hint="Shown at the top of the pages that visitors see."
        {...bind('name')}
      />
      <LogoField
        brand={brand}
        error={findFieldError(errors, 'brand.logo')}
        disabled={disabled}
        change={change}
      />
      <ColorField
        label="Color"
        hint="Used for buttons and links."
        value={brand.color ?? ''}
        disabled={disabled}
        error={findFieldError(errors, 'brand.color')}
        placeholder={inherited?.color ?? formatExample('#17624a')}
        onChange={(color) => change({ color: color || null })}
      />
      <TextField
        label="Sender name"
        maxLength={60}
        hint="Emails to people who send a form come from this name."
        {...bind('senderName')}
        placeholder={inherited?.senderName ?? brand.name ?? inherited?.name ?? undefined}
      />
      <TextField
        label="Reply-to address"
        type="email"
        maxLength={254}
        hint="Replies to these emails go to this address."
        {...bind('replyTo')}
      />
      <TextareaField
        label="Footer"
        hint="Shown at the end of pages and emails."
        maxLength={300}
        rows={2}
        {...bind('footer')}
      />
      <BrandPreview brand={{ ...inherited, ...pickSet(brand) }} />
    </div>
  )
}

/** The stored logo under the host of the dashboard, which may be another name of the server. */
const toOwnUrl = (logo: string) => (logo.startsWith('http') ? new URL(logo).pathname : logo)

const pickSet = (brand: BrandResource) =>
  Object.fromEntries(Object.entries(brand).filter(([, value]) => value !== null)) as Partial<BrandResource>

interface LogoFieldProps {
  brand: BrandResource
  error: string | undefined
  disabled: boolean | undefined
  change: (part: Partial<BrandResource>) => void
}

/** The browser draws the picture anew as a PNG, so nothing else of the file is sent. */
function LogoField({ brand, error, disabled, change }: LogoFieldProps) {
  const id = useId()
  const [problem, setProblem] = useState<string>()
  async function choose(file: File | undefined) {
    if (!file) return
    setProblem(undefined)
    try {
      change({ logo: await toLogo(file) })
    } catch {
      setProblem('This picture can’t be read. Choose a PNG or an SVG.')
    }
  }
  const message = problem ?? error
  return (
    <div className="grid gap-1.5">
      <label htmlFor={id} className="text-sm font-medium">
        Logo
      </label>
      <div className="flex flex-wrap items-center gap-3">
        {brand.logo && (
          <img
            src={toOwnUrl(brand.logo)}
            alt="Current logo"
            className="max-h-10 max-w-48 rounded-md bg-white p-1"
          />
        )}
        {/* The browser writes its own button in its own language. */}
        <span
          className={classNames(
            buttonClassNames('secondary', 'small'),
            'relative overflow-clip has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent',
            disabled && 'opacity-55',
          )}
        >
          {brand.logo ? 'Choose another picture' : 'Choose a picture'}
          <input
            id={id}
            type="file"
            accept="image/png,image/svg+xml"
            disabled={disabled}
            aria-invalid={message !== undefined}
            aria-describedby={`${id}-hint`}
            className="absolute inset-0 cursor-pointer opacity-0 disabled:cursor-not-allowed"
            onChange={({ target }) => {
              void choose(target.files?.[0])
              // The same file can be chosen again.
              target.value = ''
            }}
          />
        </span>
        {brand.logo && !disabled && (
          <Button size="small" onClick={() => change({ logo: null })}>
            Remove logo
          </Button>
        )}
      </div>
      {message && (
        <p role="alert" className="text-sm text-danger">
          {message}
        </p>
      )}
      <p id={`${id}-hint`} className="text-sm text-soft">
        PNG or SVG. An SVG becomes a PNG before it’s sent.
      </p>
    </div>
  )
}

/** A small thank-you page in the colors of the light scheme. */
function BrandPreview({ brand: { name, logo, color, footer } }: { brand: Partial<BrandResource> }) {
  const background = color && /^#[\da-f]{6}$/i.test(color) ? color : '#17624a'
  return (
    <figure className="grid gap-1.5">
      <figcaption className="text-sm font-medium">Preview</figcaption>
      <div className="grid justify-items-center gap-3 rounded-lg bg-[#f6f7f4] p-5 text-[#1c2421]">
        <div className="grid w-full max-w-80 gap-3">
          {logo ? (
            <img src={toOwnUrl(logo)} alt={name ?? ''} className="max-h-8 max-w-40" />
          ) : (
            name && <p className="font-semibold break-words">{name}</p>
          )}
          <div className="rounded-xl border border-[#d5dbd7] bg-white p-4">
            <p className="font-semibold">Thanks!</p>
            <p className="mb-3 text-sm text-[#57635e]">We’ve received your message.</p>
            <span
              className="inline-block rounded-lg px-3 py-1.5 text-sm font-semibold text-white"
              style={{ background }}
            >
              Back to the page
            </span>
          </div>
          {footer && <p className="text-xs break-words whitespace-pre-wrap text-[#57635e]">{footer}</p>}
        </div>
      </div>
    </figure>
  )
}
