// A field for a moment, or for a day: the browser's own control, which keyboards and screen readers know, in the look of the
// other fields (app.css). Its label names the time zone.

import type { ComponentProps } from 'react'
import { classNames } from '../class-names.ts'
import { viewerZone } from '../format.ts'
import { Field, type FieldProps, Input } from './field.tsx'

interface Props
  extends Omit<FieldProps, 'label' | 'children'>,
    Pick<ComponentProps<'input'>, 'min' | 'max' | 'name' | 'required' | 'disabled'> {
  label: string
  type?: 'datetime-local' | 'date'
  /** In the format of the control, in the viewer's time zone. '' is none. */
  value: string
  /** What an empty field means, such as `Never`. */
  placeholder?: string
  onChange: (value: string) => void
}

export function DateTimeField({
  label,
  hint,
  error,
  hideLabel,
  className,
  type = 'datetime-local',
  placeholder,
  value,
  onChange,
  ...props
}: Props) {
  const isEmpty = value === ''
  const showsPlaceholder = isEmpty && placeholder !== undefined
  return (
    <Field
      {...{ hint, error, hideLabel }}
      className={classNames('grid-cols-[minmax(0,1fr)]', className)}
      label={
        <span className="flex justify-between gap-3">
          {label} <span className="truncate font-normal text-soft">{viewerZone.replaceAll('_', ' ')}</span>
        </span>
      }
    >
      {(control) => (
        <span className="relative">
          <Input
            {...control}
            {...props}
            type={type}
            autoComplete="off"
            value={value}
            onChange={({ target }) => onChange(target.value)}
            // A time that is typed halfway has no value, is invalid and stays visible.
            className={classNames(
              'peer',
              showsPlaceholder && 'valid:not-focus:text-transparent',
              isEmpty && !showsPlaceholder && 'not-focus:text-soft not-focus:italic',
            )}
          />
          {showsPlaceholder && (
            <span
              aria-hidden
              className="pointer-events-none absolute inset-y-0 left-3 flex items-center text-soft italic peer-invalid:hidden peer-focus:hidden"
            >
              {placeholder}
            </span>
          )}
        </span>
      )}
    </Field>
  )
}
