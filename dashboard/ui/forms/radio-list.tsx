// One choice of a few, each with a sentence about it.

import { useId } from 'react'

export interface RadioOption<T extends string> {
  value: T
  name: string
  about: string
}

interface Props<T extends string> {
  legend: string
  options: RadioOption<T>[]
  value: T | ''
  error: string | undefined
  change: (value: T) => void
}

export function RadioList<T extends string>({ legend, options, value, error, change }: Props<T>) {
  const id = useId()
  return (
    <fieldset className="grid gap-2" aria-describedby={error && id}>
      <legend className="mb-2 text-sm font-medium">{legend}</legend>
      {options.map((option) => (
        <label key={option.value} className="flex min-w-0 items-start gap-3">
          <input
            type="radio"
            name={`${id}-choice`}
            className="mt-1 accent-accent"
            aria-invalid={error !== undefined}
            checked={option.value === value}
            onChange={() => change(option.value)}
          />
          <span className="min-w-0">
            <span className="block">{option.name}</span>
            <span className="block text-sm break-words text-soft">{option.about}</span>
          </span>
        </label>
      ))}
      {error && (
        <p id={id} role="alert" className="text-sm text-danger">
          {error}
        </p>
      )}
    </fieldset>
  )
}
