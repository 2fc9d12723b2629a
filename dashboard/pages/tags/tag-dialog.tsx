// Making a tag, or giving one another name or color.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { TagResource } from '../../../server/features/links/schema.ts'
import { ApiError } from '../../api/client.ts'
import { createTag, invalidateTags, updateTag } from '../../api/tags.ts'
import { useApi } from '../../shell/use-workspace.ts'
import { Dot, type TagColor } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/forms/field.tsx'
import { Dialog } from '../../ui/overlays/dialog.tsx'
import { toast } from '../../ui/overlays/toast.tsx'

const COLORS: TagColor[] = ['gray', 'red', 'orange', 'yellow', 'green', 'teal', 'blue', 'purple', 'pink']
const FORM = 'tag-form'

export function TagDialog({ tag, onClose }: { tag?: TagResource; onClose: () => void }) {
  const api = useApi()
  const client = useQueryClient()
  const [name, setName] = useState(tag?.name ?? '')
  const [color, setColor] = useState<TagColor>(tag?.color ?? 'gray')
  const save = useMutation({
    mutationFn: () => (tag ? updateTag(api, tag.id, { name, color }) : createTag(api, { name, color })),
    onSuccess(saved) {
      void invalidateTags(client, api)
      toast(tag ? 'Tag saved' : `“${saved.name}” made`)
      onClose()
    },
    onError() {},
  })
  const wrong =
    save.error instanceof ApiError ? (save.error.errors.name ?? save.error.message) : save.error?.message
  return (
    <Dialog
      open
      onClose={onClose}
      title={tag ? 'Edit tag' : 'New tag'}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" form={FORM} look="primary" busy={save.isPending}>
            {tag ? 'Save' : 'Make tag'}
          </Button>
        </>
      }
    >
      <form
        id={FORM}
        className="grid gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          if (!save.isPending) save.mutate()
        }}
      >
        <TextField
          label="Name"
          required
          autoFocus
          autoComplete="off"
          maxLength={50}
          value={name}
          error={wrong}
          onChange={({ target }) => setName(target.value)}
        />
        <Colors color={color} onChange={setColor} />
      </form>
    </Dialog>
  )
}

const Colors = ({ color, onChange }: { color: TagColor; onChange: (color: TagColor) => void }) => (
  <fieldset>
    <legend className="mb-1.5 text-sm font-medium">Color</legend>
    <div className="flex flex-wrap gap-1.5">
      {COLORS.map((one) => (
        <label
          key={one}
          className="flex cursor-pointer items-center gap-1.5 rounded-lg border border-line px-2.5 py-1 text-sm has-checked:border-accent has-checked:bg-tint has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent"
        >
          <input
            type="radio"
            name="color"
            className="sr-only"
            checked={color === one}
            onChange={() => onChange(one)}
          />
          <Dot color={one} />
          {one}
        </label>
      ))}
    </div>
  </fieldset>
)
