// The bar with actions for all selected links, at the bottom of the page.

import { useMutation } from '@tanstack/react-query'
import { Archive, ArchiveRestore, Pencil, Tag, Trash2, X } from 'lucide-react'
import { useMemo, useRef, useState } from 'react'
import { createTag } from '../../../api/tags.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { Button, IconButton } from '../../../ui/button.tsx'
import { formatCount } from '../../../ui/format.ts'
import { lazyPart } from '../../../ui/lazy-part.tsx'
import { toastError } from '../../../ui/overlays/toast.tsx'
import { useLinkActions } from '../link/use-link-actions.ts'
import type { LinkSelection } from '../list/use-link-selection.ts'
import { isSameTag, type LinkTag, NEW_TAG_ID } from '../tag-picker/use-tag-options.ts'

const BulkEditDialog = lazyPart(() => import('./bulk-edit-dialog.tsx'), 'BulkEditDialog')
const TagPicker = lazyPart(() => import('../tag-picker/tag-picker.tsx'), 'TagPicker')

interface Props {
  selection: LinkSelection
  /** The number of loaded links: links that are not loaded cannot be selected. */
  loaded: number
  total: number
}

export function BulkBar({ selection, loaded, total }: Props) {
  const { selected, clear, selectAll } = selection
  const { archive, remove } = useLinkActions()
  const [isEditing, setEditing] = useState(false)
  const allArchived = selected.every((link) => link.archived)
  return (
    <div
      role="toolbar"
      aria-label="Selected links"
      className="appear sticky bottom-3 z-20 mx-auto mt-3 flex w-fit max-w-full flex-wrap items-center justify-center gap-1 rounded-xl border border-strong bg-card p-1.5 shadow-lg"
    >
      <span className="pr-2 pl-2 text-sm font-medium whitespace-nowrap" role="status">
        {formatCount(selected.length, 'link')} selected
      </span>
      {selected.length < loaded && (
        <Button variant="quiet" size="small" onClick={selectAll}>
          {loaded < total ? `Select all ${loaded} loaded` : `Select all ${loaded}`}
        </Button>
      )}
      <Button variant="quiet" size="small" icon={<Pencil size={15} />} onClick={() => setEditing(true)}>
        Edit
      </Button>
      <BulkTags selection={selection} />
      <Button
        variant="quiet"
        size="small"
        icon={allArchived ? <ArchiveRestore size={15} /> : <Archive size={15} />}
        onClick={() => {
          void archive(selected, !allArchived)
          clear()
        }}
      >
        {allArchived ? 'Unarchive' : 'Archive'}
      </Button>
      <Button
        variant="quiet"
        size="small"
        icon={<Trash2 size={15} />}
        className="text-danger!"
        onClick={() => {
          void remove(selected)
          clear()
        }}
      >
        Delete
      </Button>
      <IconButton label="Clear selection" onClick={clear}>
        <X size={16} />
      </IconButton>
      {isEditing && <BulkEditDialog links={selected} onClose={() => setEditing(false)} />}
    </div>
  )
}

/** Choosing a tag that all links have removes it; choosing any other tag adds it to all links. */
function BulkTags({ selection: { selected } }: { selection: LinkSelection }) {
  const api = useApi()
  const { changeTags } = useLinkActions()
  const button = useRef<HTMLButtonElement>(null)
  const [open, setOpen] = useState(false)
  const { onAll, onSome } = useMemo(() => {
    const tagsById = new Map(selected.flatMap(({ tags }) => tags).map((tag) => [tag.id, tag]))
    const countLinks = (tag: LinkTag) =>
      selected.filter(({ tags }) => tags.some(({ id }) => id === tag.id)).length
    const tags = [...tagsById.values()]
    return {
      onAll: tags.filter((tag) => countLinks(tag) === selected.length),
      onSome: new Set(tags.filter((tag) => countLinks(tag) < selected.length).map(({ id }) => id)),
    }
  }, [selected])
  const change = useMutation({
    async mutationFn(next: LinkTag[]) {
      const added = next.filter((tag) => !onAll.some((other) => isSameTag(other, tag)))
      const removed = onAll.filter((tag) => !next.some((other) => isSameTag(other, tag)))
      const stored = await Promise.all(
        added.map((tag) => (tag.id === NEW_TAG_ID ? createTag(api, { name: tag.name }) : tag)),
      )
      const addedTags = stored.map(({ id, name, color }) => ({ id, name, color }))
      await changeTags(selected, { added: addedTags, removed })
    },
    onError: (error) => toastError(error, 'Couldn’t change the tags'),
  })
  return (
    <>
      <Button
        ref={button}
        variant="quiet"
        size="small"
        icon={<Tag size={15} />}
        busy={change.isPending}
        aria-haspopup="listbox"
        aria-expanded={open}
        onClick={() => setOpen(true)}
      >
        Tag
      </Button>
      {open && (
        <TagPicker
          create
          anchor={button}
          selected={onAll}
          partly={onSome}
          onChange={(tags) => change.mutate(tags)}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  )
}
