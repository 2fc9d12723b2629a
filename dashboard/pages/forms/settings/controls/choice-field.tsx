// A choice between a few options, each with an explanation.

import { type ReactNode, useId } from 'react'

interface Choice<Value extends string> {
  value: Value
  label: string
  hint: ReactNode
  /** Shown below the choice while it is chosen. */
  details?: ReactNode
}

interface ChoiceFieldProps<Value extends string> {
  legend: string
  choices: Choice<Value>[]
  value: Value
  onChange: (value: Value) => void
}

export function ChoiceField<Value extends string>(props: ChoiceFieldProps<Value>) {
  const { legend, choices, value, onChange } = props
  const id = useId()
  return (
    <fieldset className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-2.5">
      <legend className="mb-2 text-sm font-medium">{legend}</legend>
      {choices.map((choice) => (
        <div key={choice.value} className="grid grid-cols-[minmax(0,1fr)] gap-2">
          <div className="flex items-start gap-3">
            <input
              id={`${id}-${choice.value}`}
              type="radio"
              name={id}
              className="mt-1 size-4 shrink-0 accent-accent"
              aria-describedby={`${id}-${choice.value}-hint`}
              checked={choice.value === value}
              onChange={() => onChange(choice.value)}
            />
            <span className="grid min-w-0 gap-0.5">
              <label htmlFor={`${id}-${choice.value}`} className="font-medium">
                {choice.label}
              </label>
              <span id={`${id}-${choice.value}-hint`} className="text-sm wrap-anywhere text-soft">
                {choice.hint}
              </span>
            </span>
          </div>
          {choice.value === value && choice.details && <div className="min-w-0 pl-7">{choice.details}</div>}
        </div>
      ))}
    </fieldset>
  )
}
