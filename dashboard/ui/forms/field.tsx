// Form fields: a label, a control, a hint and an error, linked for screen readers.

import { type ComponentProps, type ReactNode, useId } from 'react'
import { classNames } from '../class-names.ts'
import { t } from '../text.ts'
import { CONTROL } from './control-class.ts'
import { Select, type SelectProps } from './select.tsx'
import { stripPastedUrl } from './strip-around-url.ts'

export { Select }

export interface FieldProps {
  label: ReactNode
  hint?: ReactNode
  error?: string | undefined
  /** Only screen readers get the label. */
  hideLabel?: boolean
  className?: string
  children: (control: {
    id: string
    'aria-describedby': string | undefined
    'aria-invalid': boolean
  }) => ReactNode
}

export function Field({ label, hint, error, hideLabel, className, children }: FieldProps) {
  const id = useId()
  const describedBy = [error && `${id}-error`, hint && `${id}-hint`].filter(Boolean).join(' ') || undefined
  return (
    <div className={classNames('grid gap-1.5', className)}>
      <label id={`${id}-label`} htmlFor={id} className={hideLabel ? 'sr-only' : 'text-sm font-medium'}>
        {label}
      </label>
      {children({ id, 'aria-describedby': describedBy, 'aria-invalid': error !== undefined })}
      {error && (
        <p id={`${id}-error`} className="text-sm text-danger">
          {error}
        </p>
      )}
      {hint && (
        <p id={`${id}-hint`} className="text-sm text-soft">
          {hint}
        </p>
      )}
    </div>
  )
}

/** Address fields drop the characters around a pasted address. */
export const Input = ({ className, onChange, ...props }: ComponentProps<'input'>) => (
  <input
    {...props}
    onChange={(event) => {
      if ([props.type, props.inputMode].includes('url')) stripPastedUrl(event)
      onChange?.(event)
    }}
    className={classNames(CONTROL, 'h-9', className)}
  />
)

/** The placeholder of a field: a text that cannot be taken for the field's value. */
export const formatExample = (example: string | undefined) => example && t(`e.g. ${example}`)

export const Textarea = ({ className, ...props }: ComponentProps<'textarea'>) => (
  <textarea {...props} className={classNames(CONTROL, 'min-h-20 py-2', className)} />
)

type LabelProps = Omit<FieldProps, 'children'>
/** The props of a control in a Field. `className` is that of the Field. */
type Labeled<Props> = Omit<Props, 'children' | 'className'> & LabelProps

export function TextField({
  label,
  hint,
  error,
  hideLabel,
  className,
  ...props
}: Labeled<ComponentProps<'input'>>) {
  return (
    <Field {...{ label, hint, error, hideLabel, className }}>
      {(control) => <Input {...control} {...props} />}
    </Field>
  )
}

export function TextareaField({
  label,
  hint,
  error,
  hideLabel,
  className,
  ...props
}: Labeled<ComponentProps<'textarea'>>) {
  return (
    <Field {...{ label, hint, error, hideLabel, className }}>
      {(control) => <Textarea {...control} {...props} />}
    </Field>
  )
}

export function SelectField({
  label,
  hint,
  error,
  hideLabel,
  className,
  ...props
}: Omit<SelectProps, 'className'> & LabelProps) {
  return (
    <Field {...{ label, hint, error, hideLabel, className }}>
      {(control) => <Select {...control} {...props} />}
    </Field>
  )
}

/** A switch for a setting that is on or off. */
export function Toggle({
  label,
  hint,
  ...props
}: Omit<ComponentProps<'input'>, 'type'> & { label: ReactNode; hint?: ReactNode }) {
  const id = useId()
  return (
    <div className="flex items-start gap-3">
      <span className="relative mt-0.5 inline-flex">
        <input
          id={id}
          type="checkbox"
          // biome-ignore lint/a11y/useAriaPropsForRole: a checkbox reports its state by itself
          role="switch"
          aria-describedby={hint ? `${id}-hint` : undefined}
          {...props}
          className="peer h-5 w-9 appearance-none rounded-full border border-strong bg-sunken transition-colors checked:border-accent checked:bg-accent disabled:opacity-55"
        />
        <span className="pointer-events-none absolute top-0.5 left-0.5 size-4 rounded-full bg-soft transition-transform peer-checked:translate-x-4 peer-checked:bg-on-accent" />
      </span>
      <span className="grid gap-0.5">
        <label htmlFor={id} className="font-medium">
          {label}
        </label>
        {hint && (
          <span id={`${id}-hint`} className="text-sm text-soft">
            {hint}
          </span>
        )}
      </span>
    </div>
  )
}

export const Checkbox = ({ className, ...props }: Omit<ComponentProps<'input'>, 'type'>) => (
  <input type="checkbox" {...props} className={classNames('size-4 accent-accent', className)} />
)
