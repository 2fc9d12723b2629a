// A button with the chosen option. Its list loads when a pointer or the focus reaches the button, so that no page waits for it.

import { type ComponentType, type KeyboardEvent, type ReactNode, useState } from 'react'
import { classNames } from '../class-names.ts'
import { toastError } from '../overlays/toast.tsx'
import { CONTROL } from './control-class.ts'
import { readOptions } from './read-options.ts'
import { type OpenSelectProps, type SelectButtonProps, SelectFace } from './select-face.tsx'

export interface SelectProps extends SelectButtonProps {
  value?: string | number
  /** For a form that reads its fields by name. */
  name?: string
  onChange?: (event: { target: { value: string } }) => void
  /** `<option>` elements, before those of `options`. */
  children?: ReactNode
  options?: Iterable<readonly [value: string | number, label: string]>
}

const loadList = async () => (await import('../controls/open-select.tsx')).OpenSelect

const preload = () => void loadList().catch(() => undefined)

const opensList = ({ key, ctrlKey, metaKey, altKey }: KeyboardEvent) =>
  key === 'ArrowDown' || key === 'ArrowUp' || (/^\p{L}$/u.test(key) && !ctrlKey && !metaKey && !altKey)

export function Select({
  value,
  name,
  onChange,
  children,
  options: pairs = [],
  className,
  ...props
}: SelectProps) {
  const options = [
    ...readOptions(children),
    ...Array.from(pairs, ([own, label]) => ({ value: String(own), label, text: label })),
  ]
  const [own, setOwn] = useState<string>()
  const [List, setList] = useState<ComponentType<OpenSelectProps>>()
  const current = String(value ?? own)
  const chosen = options.find((option) => option.value === current) ?? options[0]
  const button: SelectButtonProps = {
    ...props,
    className: classNames(CONTROL, 'flex h-9 items-center gap-2 pr-2.5 text-left', className),
  }
  const choose = (next: string) => {
    setOwn(next)
    if (next !== chosen?.value) onChange?.({ target: { value: next } })
  }
  const open = () =>
    void loadList().then(
      (loaded) => setList(() => loaded),
      (error) => toastError(error, 'Couldn’t load the list'),
    )
  return (
    <>
      {name && <input type="hidden" name={name} value={chosen?.value ?? ''} />}
      {List ? (
        <List {...button} {...{ options, chosen, choose }} />
      ) : (
        <button
          type="button"
          {...button}
          role="combobox"
          aria-haspopup="listbox"
          aria-expanded={false}
          onPointerEnter={preload}
          onFocus={preload}
          onClick={open}
          onKeyDown={(event) => {
            if (!opensList(event)) return
            event.preventDefault()
            open()
          }}
        >
          <SelectFace chosen={chosen} />
        </button>
      )}
    </>
  )
}
