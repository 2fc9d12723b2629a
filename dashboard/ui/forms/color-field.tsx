// A field for a color: its hexadecimal text, and a button that opens swatches and sliders.

import { type ReactNode, useState } from 'react'
import { lazyPart } from '../lazy-part.tsx'
import { Popover } from '../overlays/popover.tsx'
import { Field, Input } from './field.tsx'

const ColorPanel = lazyPart(
  () => import('../controls/color-panel.tsx'),
  'ColorPanel',
  <div className="h-56" />,
)

export const isColor = (text: string) => /^#[\da-f]{6}$/i.test(text)

interface Props {
  label: string
  hint?: ReactNode
  error?: string
  /** For example `#17624a`. */
  value: string
  placeholder?: string
  disabled?: boolean
  /** The callback gets whole colors only, and a half-typed one is undone when the focus leaves the field. */
  required?: boolean
  onChange: (color: string) => void
}

export function ColorField({ label, hint, error, value, placeholder, disabled, required, onChange }: Props) {
  const [typed, setTyped] = useState<string>()
  const [open, setOpen] = useState(false)
  const shown = isColor(value) ? value : isColor(placeholder ?? '') ? placeholder : undefined
  return (
    <Field label={label} hint={hint} error={error}>
      {(control) => (
        <span className="relative">
          <Input
            {...control}
            maxLength={7}
            spellCheck={false}
            autoComplete="off"
            disabled={disabled}
            placeholder={placeholder}
            className="pl-10! font-mono"
            value={typed ?? value}
            onChange={({ target }) => {
              setTyped(target.value)
              if (!required || isColor(target.value)) onChange(target.value)
            }}
            onBlur={() => setTyped(undefined)}
          />
          <Popover
            label={`Choose: ${label}`}
            open={open}
            onOpenChange={setOpen}
            className="w-64"
            trigger={
              <button
                type="button"
                aria-label={`Choose: ${label}`}
                disabled={disabled}
                className="absolute top-1.5 left-1.5 size-6 rounded-md border border-strong bg-sunken"
                style={{ background: shown }}
              />
            }
          >
            <ColorPanel value={shown ?? '#17624a'} onChange={onChange} />
          </Popover>
        </span>
      )}
    </Field>
  )
}
