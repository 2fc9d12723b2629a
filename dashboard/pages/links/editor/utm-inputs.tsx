// The five fields for UTM values, two to a row.

import type { ReactNode } from 'react'
import { formatExample, TextField } from '../../../ui/forms/field.tsx'
import { UTM_PARAMETERS } from './destination-url.ts'

type Parameter = (typeof UTM_PARAMETERS)[number]

interface Props {
  toValue: (parameter: Parameter) => string | null | undefined
  toError?: (parameter: Parameter) => string | undefined
  onChange: (parameter: Parameter, value: string) => void
  /** Below the fields. */
  children?: ReactNode
}

export const UtmInputs = ({ toValue, toError, onChange, children }: Props) => (
  <div className="grid gap-4 sm:grid-cols-2">
    {UTM_PARAMETERS.map((parameter) => (
      <TextField
        key={parameter.name}
        label={parameter.label}
        autoComplete="off"
        autoCapitalize="none"
        maxLength={255}
        placeholder={formatExample(parameter.example)}
        value={toValue(parameter) ?? ''}
        error={toError?.(parameter)}
        onChange={({ target }) => onChange(parameter, target.value)}
      />
    ))}
    {children}
  </div>
)
