// The list of the workspace's tags.

import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { Plus, Tag } from 'lucide-react'
import { useMemo, useRef, useState } from 'react'
import type { TagResource } from '../../../server/features/links/schema.ts'
import { allTagsQuery, deleteTag, invalidateTags, updateTag } from '../../api/tags.ts'
import { useApi, useCanEdit } from '../../shell/use-workspace.ts'
import { ViewerDialog } from '../../shell/viewer.tsx'
import { Button } from '../../ui/button.tsx'
import { EmptyState, NoMatches } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { focusIfLost } from '../../ui/focus.ts'
import { formatCount } from '../../ui/format.ts'
import { SearchField } from '../../ui/forms/search-field.tsx'
import { useDebouncedText } from '../../ui/forms/use-debounced-text.ts'
import { lazyPart } from '../../ui/lazy-part.tsx'
import { toastError } from '../../ui/overlays/toast.tsx'
import { usePendingDeletions, useUndoableDelete } from '../../ui/overlays/use-undoable-delete.ts'
import { useShortcuts } from '../../ui/shortcuts.ts'
import { ShowMore } from '../../ui/show-more.tsx'
import { SkeletonRows } from '../../ui/skeleton.tsx'
import { SettingsFrame } from '../settings/settings-frame.tsx'
import { SettingsHeading } from '../settings/settings-heading.tsx'
import { TagRow, toTagElementId } from './tag-row.tsx'

const TagDialog = lazyPart(() => import('./tag-dialog.tsx'), 'TagDialog')

const FROM = '/$workspaceId/settings/tags'
const toDeletionKey = ({ id }: TagResource) => `tag-${id}`

export function TagsPage() {
  const { search, new: isCreating } = useSearch({ from: FROM })
  const navigate = useNavigate({ from: FROM })
  const canEdit = useCanEdit()
  const { data } = useInfiniteQuery(allTagsQuery(useApi(), search ?? ''))
  const isEmpty = !search && data?.pages[0]?.total === 0
  const [editing, edit] = useState<TagResource>()
  const [field] = useState(() => ({ current: null as HTMLInputElement | null }))
  const setCreating = (open: boolean) =>
    void navigate({ search: { search, new: open ? '1' : undefined }, replace: true })
  useTagShortcuts(() => setCreating(true), field)
  return (
    <SettingsFrame part="tags">
      <SettingsHeading
        title="Tags"
        description="Group links with tags, and pin tags to the sidebar. Analytics can be filtered by tag."
        actions={
          canEdit &&
          !isEmpty && (
            <Button variant="primary" icon={<Plus size={16} />} onClick={() => setCreating(true)}>
              New tag
            </Button>
          )
        }
      />
      <div>
        <TagResults search={search ?? ''} field={field} edit={edit} create={() => setCreating(true)} />
      </div>
      {isCreating && !canEdit && <ViewerDialog onClose={() => setCreating(false)} />}
      {isCreating && canEdit && <TagDialog onClose={() => setCreating(false)} />}
      {editing && (
        <TagDialog
          tag={editing}
          onClose={() => {
            edit(undefined)
            focusIfLost(() => document.getElementById(toTagElementId(editing.id)))
          }}
        />
      )}
    </SettingsFrame>
  )
}

type FieldRef = { current: HTMLInputElement | null }

function useTagShortcuts(create: () => void, field: FieldRef) {
  const latestCreate = useRef(create)
  latestCreate.current = create
  useShortcuts(
    useMemo(
      () => [
        { keys: 'n', label: 'New tag', changes: true, run: () => latestCreate.current() },
        { keys: '/', label: 'Search', run: () => field.current?.focus() },
      ],
      [field],
    ),
  )
}

interface TagResultsProps {
  search: string
  field: FieldRef
  edit: (tag: TagResource) => void
  create: () => void
}

function TagResults({ search, field, edit, create }: TagResultsProps) {
  const api = useApi()
  const navigate = useNavigate({ from: FROM })
  const query = useInfiniteQuery(allTagsQuery(api, search))
  const pendingDeletions = usePendingDeletions()
  const remove = useRemoveTag()
  const pin = usePinTag()
  if (query.isError && !query.data) {
    return <ErrorState error={query.error} retry={() => void query.refetch()} />
  }
  if (!query.data) return <SkeletonRows rows={6} className="h-14" />
  const all = query.data.pages.flatMap((page) => page.data)
  const tags = all.filter((tag) => !pendingDeletions.has(toDeletionKey(tag)))
  const total = Math.max(0, (query.data.pages[0]?.total ?? 0) - (all.length - tags.length))
  if (total === 0 && search === '') return <NoTags create={create} />
  return (
    <>
      <TagSearch search={search} field={field} />
      <p role="status" className="mb-2 px-1 text-sm text-soft">
        {formatCount(total, 'tag')}
      </p>
      {tags.length === 0 ? (
        <NoMatches
          clear={() => {
            void navigate({ search: {}, replace: true })
            field.current?.focus()
          }}
        />
      ) : (
        <ul className="overflow-clip rounded-2xl border border-line bg-card">
          {tags.map((tag, i) => (
            <TagRow
              key={tag.id}
              tag={tag}
              edit={() => edit(tag)}
              pin={() => void pin(tag)}
              remove={() => {
                const next = tags[i + 1] ?? tags[i - 1]
                remove(tag)
                focusIfLost(() => (next ? document.getElementById(toTagElementId(next.id)) : field.current))
              }}
            />
          ))}
        </ul>
      )}
      <ShowMore query={query} className="mt-3" />
    </>
  )
}

function useRemoveTag() {
  const api = useApi()
  const client = useQueryClient()
  const deleteUndoably = useUndoableDelete()
  return (tag: TagResource) =>
    deleteUndoably({
      key: toDeletionKey(tag),
      message: `“${tag.name}” deleted`,
      async remove() {
        await deleteTag(api, tag.id)
        await invalidateTags(client, api)
      },
      invalidates: [],
    })
}

function usePinTag() {
  const api = useApi()
  const client = useQueryClient()
  return async ({ id, pinned }: TagResource) => {
    try {
      await updateTag(api, id, { pinned: !pinned })
    } catch (error) {
      toastError(error, pinned ? 'Couldn’t unpin' : 'Couldn’t pin')
    }
    await invalidateTags(client, api)
  }
}

const TYPING_MS = 120

function TagSearch({ search, field }: { search: string; field: FieldRef }) {
  const navigate = useNavigate({ from: FROM })
  const apply = (next: string) => void navigate({ search: { search: next || undefined }, replace: true })
  const [text, setText] = useDebouncedText(search, apply, { afterMs: TYPING_MS })
  return (
    <SearchField
      ref={field}
      label="Search tags"
      placeholder="Search tags"
      className="mb-3 max-w-md"
      value={text}
      onChange={({ target }) => setText(target.value)}
    />
  )
}

const NoTags = ({ create }: { create: () => void }) => (
  <EmptyState
    icon={Tag}
    title="No tags yet"
    action={
      useCanEdit() && (
        <Button variant="primary" icon={<Plus size={16} />} onClick={create}>
          New tag
        </Button>
      )
    }
  >
    Tags group links, for example by channel, client or season. A link can have several tags, and analytics
    show clicks and leads by tag.
  </EmptyState>
)
