// A field for a list of texts. Enter adds a text, and so does a comma unless texts may have commas. Several texts can be
// pasted.

import { X } from 'lucide-react'
import { type ReactNode, useRef, useState } from 'react'
import { CODE_INPUT } from '../../../../ui/forms/control-class.ts'
import { Field } from '../../../../ui/forms/field.tsx'

interface ListFieldProps {
  label: string
  hint?: ReactNode
  error?: string
  placeholder?: string
  /** A comma belongs to the text, as in the choices of a select. */
  keepsCommas?: boolean
  value: string[]
  onChange: (value: string[]) => void
}

export function ListField({ label, hint, error, placeholder, keepsCommas, value, onChange }: ListFieldProps) {
  const [text, setText] = useState('')
  const input = useRef<HTMLInputElement>(null)
  const separators = keepsCommas ? /\n/ : /[,\n]/
  const add = (input: string) => {
    const items = input
      .split(separators)
      .map((item) => item.trim())
      .filter(Boolean)
    if (items.length > 0) onChange([...new Set([...value, ...items])])
    setText('')
  }
  return (
    <Field label={label} hint={hint} error={error}>
      {(control) => (
        <div className="flex max-h-48 min-h-9 flex-wrap overflow-y-auto items-center gap-1.5 rounded-lg border border-strong bg-card px-1.5 py-1 has-aria-invalid:border-danger has-[input:focus-visible]:outline-2 has-[input:focus-visible]:outline-offset-2 has-[input:focus-visible]:outline-accent">
          {value.map((item) => (
            <span
              key={item}
              className="inline-flex max-w-full items-center gap-1 rounded-md bg-sunken py-0.5 pr-1 pl-2 text-sm"
            >
              <span className="truncate">{item || 'Empty'}</span>
              <button
                type="button"
                aria-label={`Remove ${item}`}
                className="grid size-6 shrink-0 place-items-center rounded text-soft hover:bg-hover hover:text-ink"
                onClick={() => {
                  onChange(value.filter((other) => other !== item))
                  input.current?.focus()
                }}
              >
                <X size={13} />
              </button>
            </span>
          ))}
          <input
            {...control}
            ref={input}
            value={text}
            placeholder={value.length === 0 ? placeholder : undefined}
            {...CODE_INPUT}
            className="h-7 min-w-24 flex-1 bg-card px-1.5 outline-none"
            onChange={(event) =>
              separators.test(event.target.value) ? add(event.target.value) : setText(event.target.value)
            }
            onPaste={(event) => {
              const pasted = event.clipboardData.getData('text')
              if (!separators.test(pasted)) return
              event.preventDefault()
              add(text + pasted)
            }}
            // Text that is still in the field counts when the focus leaves it.
            onBlur={() => add(text)}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && text.trim() !== '') {
                event.preventDefault()
                add(text)
              }
              if (event.key === 'Backspace' && text === '') onChange(value.slice(0, -1))
            }}
          />
        </div>
      )}
    </Field>
  )
}
