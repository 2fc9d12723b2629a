// A field for an optional whole number, shown in its own unit, such as megabytes for bytes.

import { type ReactNode, useState } from 'react'
import { Field, Input } from '../../../../ui/forms/field.tsx'

interface NumberFieldProps {
  label: string
  hint?: ReactNode
  error?: string | undefined
  /** In the API's unit; null where the field is empty. */
  value: number | null
  onChange: (value: number | null) => void
  /** API units per unit of the field. */
  scale?: number
  /** Shown after the field, such as `MB`. */
  unit?: string
  /** What the server takes for an empty field. */
  defaultsTo?: number
  max?: number
  min?: number
  /** An emptied field gets its last number back. */
  required?: boolean
}

export function NumberField(props: NumberFieldProps) {
  const { label, hint, error, value, onChange, scale = 1, unit, defaultsTo, required } = props
  const { min = 0, max = Number.MAX_SAFE_INTEGER } = props
  const parse = (text: string): number | null => {
    const number = Number(text.replace(',', '.'))
    return text.trim() === '' || Number.isNaN(number) ? null : Math.round(number * scale)
  }
  const format = (number: number | null) =>
    number === null ? '' : String(Math.round((number / scale) * 100) / 100)
  // Keeps the typed text during input, such as `2.` before `2.5`.
  const [typed, setTyped] = useState<string>()
  return (
    <Field label={label} hint={hint} error={error}>
      {(control) => (
        <span className="flex items-center gap-2">
          <Input
            {...control}
            type="text"
            inputMode={scale === 1 ? 'numeric' : 'decimal'}
            className="max-w-40 tabular-nums"
            value={typed ?? format(value)}
            placeholder={defaultsTo === undefined ? undefined : `Default: ${defaultsTo}`}
            autoComplete="off"
            onChange={(event) => {
              const next = event.target.value.replace(scale === 1 ? /\D/g : /[^\d.,]/g, '')
              setTyped(next)
              if (!required || parse(next) !== null) onChange(parse(next))
            }}
            onBlur={() => {
              setTyped(undefined)
              if (value !== null) onChange(Math.min(Math.max(value, min), max))
            }}
          />
          {unit && <span className="text-soft">{unit}</span>}
        </span>
      )}
    </Field>
  )
}
