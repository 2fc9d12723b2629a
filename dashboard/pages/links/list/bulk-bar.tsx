// What can be done to all chosen links at once; stands at the lower edge while there are any.

import { useMutation } from '@tanstack/react-query'
import { Archive, ArchiveRestore, Tag, Trash2, X } from 'lucide-react'
import { lazy, Suspense, useMemo, useRef, useState } from 'react'
import { createTag } from '../../../api/tags.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { Button, IconButton } from '../../../ui/button.tsx'
import { formatCount } from '../../../ui/format.ts'
import { toastError } from '../../../ui/overlays/toast.tsx'
import { useLinkActions } from '../link/use-link-actions.ts'
import { isSameTag, type LinkTag, NEW_TAG_ID } from '../tag-picker/use-tag-options.ts'
import type { LinkSelection } from './use-link-selection.ts'

const TagPicker = lazy(() =>
  import('../tag-picker/tag-picker.tsx').then(({ TagPicker }) => ({ default: TagPicker })),
)

interface Props {
  selection: LinkSelection
  /** How many are loaded: what has not been seen is not chosen. */
  shown: number
  total: number
}

export function BulkBar({ selection, shown, total }: Props) {
  const { chosen, clear, all } = selection
  const { archive, remove } = useLinkActions()
  const archived = chosen.every((link) => link.archived)
  return (
    <div
      role="toolbar"
      aria-label="Selected links"
      className="appear sticky bottom-3 z-20 mx-auto mt-3 flex w-fit max-w-full flex-wrap items-center justify-center gap-1 rounded-xl border border-strong bg-card p-1.5 shadow-lg"
    >
      <span className="pr-2 pl-2 text-sm font-medium whitespace-nowrap" role="status">
        {formatCount(chosen.length, 'link')} selected
      </span>
      {chosen.length < shown && (
        <Button look="quiet" size="small" onClick={all}>
          {shown < total ? `Select the ${shown} loaded` : `Select all ${shown}`}
        </Button>
      )}
      <BulkTags selection={selection} />
      <Button
        look="quiet"
        size="small"
        icon={archived ? <ArchiveRestore size={15} /> : <Archive size={15} />}
        onClick={() => {
          void archive(chosen, !archived)
          clear()
        }}
      >
        {archived ? 'Bring back' : 'Archive'}
      </Button>
      <Button
        look="quiet"
        size="small"
        icon={<Trash2 size={15} />}
        className="text-danger!"
        onClick={() => {
          remove(chosen)
          clear()
        }}
      >
        Delete
      </Button>
      <IconButton label="Select nothing" onClick={clear}>
        <X size={16} />
      </IconButton>
    </div>
  )
}

/** A tag that all have is taken off; one that some or none have is put on all. */
function BulkTags({ selection: { chosen } }: { selection: LinkSelection }) {
  const api = useApi()
  const { tag: retag } = useLinkActions()
  const button = useRef<HTMLButtonElement>(null)
  const [open, setOpen] = useState(false)
  const { onAll, onSome } = useMemo(() => {
    const every = new Map(chosen.flatMap(({ tags }) => tags).map((tag) => [tag.id, tag]))
    const has = (tag: LinkTag) => chosen.filter(({ tags }) => tags.some(({ id }) => id === tag.id)).length
    const tags = [...every.values()]
    return {
      onAll: tags.filter((tag) => has(tag) === chosen.length),
      onSome: new Set(tags.filter((tag) => has(tag) < chosen.length).map(({ id }) => id)),
    }
  }, [chosen])
  const change = useMutation({
    async mutationFn(next: LinkTag[]) {
      const added = next.filter((tag) => !onAll.some((one) => isSameTag(one, tag)))
      const removed = onAll.filter((tag) => !next.some((one) => isSameTag(one, tag)))
      const real = await Promise.all(
        added.map((tag) => (tag.id === NEW_TAG_ID ? createTag(api, { name: tag.name }) : tag)),
      )
      const put = real.map(({ id, name, color }) => ({ id, name, color }))
      await retag(chosen, ({ tags }) => [
        ...tags.filter(({ id }) => ![...removed, ...put].some((tag) => tag.id === id)),
        ...put,
      ])
    },
    onError: (error) => toastError(error, 'Not tagged'),
  })
  return (
    <>
      <Button
        ref={button}
        look="quiet"
        size="small"
        icon={<Tag size={15} />}
        busy={change.isPending}
        aria-haspopup="listbox"
        aria-expanded={open}
        onClick={() => setOpen(true)}
      >
        Tag
      </Button>
      <Suspense>
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
      </Suspense>
    </>
  )
}
