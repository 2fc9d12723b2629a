// The dialog that creates and edits a tag.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { TagResource } from '../../../server/features/links/schema.ts'
import { ApiError, toFieldErrors } from '../../api/client.ts'
import { createTag, invalidateTags, tagsQuery, updateTag } from '../../api/tags.ts'
import { useApi } from '../../shell/use-workspace.ts'
import { TextField, Toggle } from '../../ui/forms/field.tsx'
import { FormDialog } from '../../ui/forms/form-dialog.tsx'
import { toast } from '../../ui/overlays/toast.tsx'
import { type TagColor, TagDot } from '../../ui/tag-chip.tsx'

const COLOR_LABELS: Record<TagColor, string> = {
  gray: 'Gray',
  red: 'Red',
  orange: 'Orange',
  yellow: 'Yellow',
  green: 'Green',
  teal: 'Teal',
  blue: 'Blue',
  purple: 'Purple',
  pink: 'Pink',
}
const COLORS = Object.keys(COLOR_LABELS) as TagColor[]

export function TagDialog({ tag, onClose }: { tag?: TagResource; onClose: () => void }) {
  const api = useApi()
  const client = useQueryClient()
  const nextColor = useNextColor()
  const [name, setName] = useState(tag?.name ?? '')
  const [chosen, setColor] = useState<TagColor | undefined>(tag?.color)
  const color = chosen ?? nextColor
  const [pinned, setPinned] = useState(tag?.pinned ?? false)
  const save = useMutation({
    mutationFn() {
      const input = { name, color, pinned }
      return tag ? updateTag(api, tag.id, input) : createTag(api, input)
    },
    onSuccess(saved) {
      void invalidateTags(client, api)
      toast(tag ? 'Tag saved' : `“${saved.name}” created`)
      onClose()
    },
    onError() {},
  })
  const { general, ...errors } = toFieldErrors(save.error, ['name'])
  // A conflict is about the name, or there is no room for one more pinned tag.
  const isConflict =
    save.error instanceof ApiError && save.error.status === 409 && !save.error.message.includes('pinned')
  return (
    <FormDialog
      onClose={onClose}
      title={tag ? 'Edit tag' : 'New tag'}
      action={tag ? 'Save' : 'Create tag'}
      busy={save.isPending}
      error={isConflict ? undefined : general}
      onSubmit={() => save.mutate()}
    >
      <TextField
        label="Name"
        required
        autoFocus
        autoComplete="off"
        maxLength={50}
        value={name}
        error={isConflict ? general : errors.name}
        onChange={({ target }) => setName(target.value)}
      />
      <Colors color={color} onChange={setColor} />
      <Toggle
        label="Pin to sidebar"
        hint="The tag stands under Links, like a folder."
        checked={pinned}
        onChange={({ target }) => setPinned(target.checked)}
      />
    </FormDialog>
  )
}

/** New tags cycle through the colors, so that neighbors differ. Gray is for people who choose it. */
function useNextColor(): TagColor {
  const { data } = useQuery(tagsQuery(useApi()))
  const colors = COLORS.slice(1)
  return colors[(data?.total ?? 0) % colors.length] ?? 'gray'
}

const Colors = ({ color, onChange }: { color: TagColor; onChange: (color: TagColor) => void }) => (
  <fieldset>
    <legend className="mb-1.5 text-sm font-medium">Color</legend>
    <div className="flex flex-wrap gap-1.5">
      {COLORS.map((option) => (
        <label
          key={option}
          className="flex cursor-pointer items-center gap-1.5 rounded-lg border border-line px-2.5 py-1 text-sm has-checked:border-accent has-checked:bg-tint has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent"
        >
          <input
            type="radio"
            name="color"
            className="sr-only"
            checked={color === option}
            onChange={() => onChange(option)}
          />
          <TagDot color={option} />
          {COLOR_LABELS[option]}
        </label>
      ))}
    </div>
  </fieldset>
)
