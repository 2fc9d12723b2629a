// The tags of a link: typing finds existing tags and creates new ones.

import { Combobox } from '@base-ui/react/combobox'
import { X } from 'lucide-react'
import { useState } from 'react'
import { Field } from '../../../ui/forms/field.tsx'
import { TagDot } from '../../../ui/tag-chip.tsx'
import { TagOption } from '../tag-picker/tag-option.tsx'
import {
  isSameTag,
  type LinkTag,
  TAG_NAME_MAX,
  useTagOptions,
  useTypedTag,
} from '../tag-picker/use-tag-options.ts'

interface Props {
  tags: LinkTag[]
  error: string | undefined
  onChange: (tags: LinkTag[]) => void
}

export function TagsField({ tags, error, onChange }: Props) {
  const [text, setText] = useState('')
  const { options, isPending } = useTagOptions(text, { create: true, existing: tags })
  const choose = (next: LinkTag[]) => {
    onChange(next)
    setText('')
  }
  const { onEnter, onItemHighlighted } = useTypedTag({ text, options, tags, create: true, choose })
  return (
    <Combobox.Root
      multiple
      items={options}
      filter={null}
      value={tags}
      onValueChange={(next: LinkTag[], details) =>
        // By default, Escape would remove all tags.
        details.reason === 'escape-key' ? details.cancel() : choose(next)
      }
      onItemHighlighted={onItemHighlighted}
      inputValue={text}
      onInputValueChange={(value) => setText(value)}
      itemToStringLabel={(tag: LinkTag) => tag.name}
      isItemEqualToValue={isSameTag}
      autoHighlight
    >
      <Field label="Tags" error={error} className="grid-cols-1">
        {(control) => (
          <Combobox.InputGroup className="flex min-h-9 items-center rounded-lg border border-strong bg-card px-1.5 py-1 focus-within:outline-2 focus-within:outline-offset-2 focus-within:outline-accent">
            <Combobox.Chips className="flex min-w-0 flex-1 flex-wrap items-center gap-1">
              {tags.map((tag) => (
                <Chip key={`${tag.id} ${tag.name}`} tag={tag} />
              ))}
              <Combobox.Input
                {...control}
                onKeyDown={onEnter}
                placeholder={tags.length === 0 ? 'Choose or create tags' : ''}
                maxLength={TAG_NAME_MAX}
                className="h-6.5 min-w-24 flex-1 bg-card px-1.5 outline-none"
              />
            </Combobox.Chips>
          </Combobox.InputGroup>
        )}
      </Field>
      <Options isPending={isPending} />
    </Combobox.Root>
  )
}

const Chip = ({ tag }: { tag: LinkTag }) => (
  <Combobox.Chip
    aria-label={tag.name}
    className="flex max-w-full items-center gap-1.5 rounded-md border border-line bg-sunken pl-1.5 text-sm outline-none data-highlighted:border-accent"
  >
    <TagDot color={tag.color} />
    <span className="truncate">{tag.name}</span>
    <Combobox.ChipRemove
      aria-label={`Remove ${tag.name}`}
      className="grid size-6 shrink-0 place-items-center rounded text-soft hover:text-ink"
    >
      <X size={13} />
    </Combobox.ChipRemove>
  </Combobox.Chip>
)

const Options = ({ isPending }: { isPending: boolean }) => (
  <Combobox.Portal>
    <Combobox.Positioner sideOffset={6} align="start" className="z-60">
      <Combobox.Popup className="appear w-(--anchor-width) rounded-xl border border-line bg-card shadow-lg">
        <Combobox.Empty className="px-3 text-sm text-soft empty:hidden">
          <p className="py-3">{isPending ? 'Loading…' : 'Type a name to create a tag.'}</p>
        </Combobox.Empty>
        <Combobox.List className="max-h-60 overflow-y-auto p-1 empty:hidden">
          {(tag: LinkTag) => <TagOption key={`${tag.id} ${tag.name}`} tag={tag} />}
        </Combobox.List>
      </Combobox.Popup>
    </Combobox.Positioner>
  </Combobox.Portal>
)
