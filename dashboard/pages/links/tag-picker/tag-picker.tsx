// A searchable list of tags below a button: for the list's filter and for bulk changes.

import { Combobox } from '@base-ui/react/combobox'
import { Minus } from 'lucide-react'
import { type RefObject, useState } from 'react'
import { TagOption } from './tag-option.tsx'
import { isSameTag, type LinkTag, useTagOptions, useTypedTag } from './use-tag-options.ts'

interface Props {
  anchor: RefObject<HTMLElement | null>
  selected: LinkTag[]
  /** The ids of tags that only some of the links have. */
  partly?: ReadonlySet<number>
  /** Also offers to create a tag with the typed name; its id is NEW_TAG_ID. */
  create?: boolean
  onChange: (tags: LinkTag[]) => void
  onClose: () => void
}

const NONE: LinkTag[] = []

export function TagPicker({ anchor, selected, partly, create = false, onChange, onClose }: Props) {
  const [text, setText] = useState('')
  const { options, isPending } = useTagOptions(text, { create, existing: NONE })
  const choose = (tags: LinkTag[]) => {
    onChange(tags)
    setText('')
  }
  const { onEnter, onItemHighlighted } = useTypedTag({ text, options, tags: selected, create, choose })
  return (
    <Combobox.Root
      multiple
      open
      onOpenChange={(open) => open || onClose()}
      items={options}
      filter={null}
      value={selected}
      onValueChange={choose}
      onItemHighlighted={onItemHighlighted}
      inputValue={text}
      onInputValueChange={(value) => setText(value)}
      itemToStringLabel={(tag: LinkTag) => tag.name}
      isItemEqualToValue={isSameTag}
      autoHighlight
    >
      <Combobox.Portal>
        <Combobox.Positioner anchor={anchor} align="start" sideOffset={4} className="z-50">
          <Combobox.Popup
            aria-label="Tags"
            className="appear w-64 rounded-xl border border-line bg-card shadow-lg"
          >
            <Combobox.Input
              aria-label="Search tags"
              onKeyDown={onEnter}
              placeholder={create ? 'Search or create a tag' : 'Search tags'}
              maxLength={50}
              className="h-10 w-full rounded-t-xl border-b border-line bg-card px-3 outline-none"
            />
            <Combobox.Empty className="px-3 text-sm text-soft empty:hidden">
              <p className="py-4">{isPending ? 'Loading…' : 'No matches'}</p>
            </Combobox.Empty>
            <Combobox.List className="max-h-72 overflow-y-auto p-1 empty:hidden">
              {(tag: LinkTag) => (
                <TagOption key={`${tag.id} ${tag.name}`} tag={tag}>
                  {partly?.has(tag.id) && <Minus size={15} aria-label="on some links" />}
                </TagOption>
              )}
            </Combobox.List>
          </Combobox.Popup>
        </Combobox.Positioner>
      </Combobox.Portal>
    </Combobox.Root>
  )
}
