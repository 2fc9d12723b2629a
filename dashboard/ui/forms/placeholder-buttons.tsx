// Buttons that write a placeholder such as `{{name}}` into a text, where the cursor is.

import type { RefObject } from 'react'
import { Button } from '../button.tsx'

interface Props {
  /** The names between the braces. */
  names: string[]
  field: RefObject<HTMLTextAreaElement | null>
  onChange: (text: string) => void
}

export const PlaceholderButtons = ({ names, field, onChange }: Props) => (
  <fieldset className="flex min-w-0 flex-wrap items-center gap-1.5">
    <legend className="sr-only">Insert a placeholder</legend>
    {names.map((name) => (
      <Button
        key={name}
        size="small"
        className="max-w-full font-mono"
        onClick={() => {
          const input = field.current
          if (!input) return
          const { value, selectionStart, selectionEnd } = input
          const placeholder = `{{${name}}}`
          onChange(value.slice(0, selectionStart) + placeholder + value.slice(selectionEnd))
          const cursor = selectionStart + placeholder.length
          // The field has the new text in the next frame.
          requestAnimationFrame(() => {
            input.focus()
            input.setSelectionRange(cursor, cursor)
          })
        }}
      >
        <span className="truncate">{`{{${name}}}`}</span>
      </Button>
    ))}
  </fieldset>
)
