// One tag in the list. The row opens the links with the tag.

import { Link, useNavigate } from '@tanstack/react-router'
import { BarChart3, MoreHorizontal, Pencil, Pin, PinOff, Trash2 } from 'lucide-react'
import type { TagResource } from '../../../server/features/links/schema.ts'
import { useCanEdit, useWorkspace } from '../../shell/use-workspace.ts'
import { IconButton } from '../../ui/button.tsx'
import { formatCount } from '../../ui/format.ts'
import { Menu, MenuItem, MenuSeparator } from '../../ui/overlays/menu.tsx'
import { RelativeTime } from '../../ui/relative-time.tsx'
import { toRowClicks } from '../../ui/row-click.ts'
import { TagDot } from '../../ui/tag-chip.tsx'

interface Props {
  tag: TagResource
  edit: () => void
  pin: () => void
  remove: () => void
}

/** The id of a row's link, which gets the focus when the row before it is deleted. */
export const toTagElementId = (id: number) => `tag-${id}`

export function TagRow({ tag, edit, pin, remove }: Props) {
  const { id } = useWorkspace()
  const canEdit = useCanEdit()
  const navigate = useNavigate()
  const params = { workspaceId: String(id) }
  const search = { tagId: String(tag.id) }
  return (
    <li
      {...toRowClicks(
        `/app/${id}/links?tagId=${tag.id}`,
        () => void navigate({ to: '/$workspaceId/links', params, search }),
      )}
      className="flex cursor-pointer items-center gap-3 border-b border-line px-4 py-2 last:border-b-0 focus-within:bg-hover hover:bg-hover"
    >
      <TagDot color={tag.color} />
      <Link
        id={toTagElementId(tag.id)}
        to="/$workspaceId/links"
        params={params}
        search={search}
        className="min-w-0 flex-1 truncate rounded py-1.5 font-medium"
      >
        {tag.name}
      </Link>
      {tag.pinned && <Pin size={14} aria-label="Pinned" className="shrink-0 text-soft" />}
      <span className="text-sm whitespace-nowrap tabular-nums">{formatCount(tag.links, 'link')}</span>
      <span className="w-28 text-right text-sm whitespace-nowrap text-soft max-sm:hidden">
        <RelativeTime at={tag.createdAt} />
      </span>
      {canEdit && (
        <IconButton label={`Edit ${tag.name}`} title="Edit" onClick={edit} className="max-sm:hidden">
          <Pencil size={15} />
        </IconButton>
      )}
      <Menu
        trigger={
          <IconButton label={`More for ${tag.name}`} title="More">
            <MoreHorizontal size={17} />
          </IconButton>
        }
      >
        {canEdit && (
          <>
            <MenuItem icon={<Pencil size={15} />} onSelect={edit}>
              Edit
            </MenuItem>
            <MenuItem icon={tag.pinned ? <PinOff size={15} /> : <Pin size={15} />} onSelect={pin}>
              {tag.pinned ? 'Unpin from sidebar' : 'Pin to sidebar'}
            </MenuItem>
          </>
        )}
        <MenuItem
          render={<Link to="/$workspaceId/analytics" params={params} search={search} />}
          icon={<BarChart3 size={15} />}
        >
          Analytics
        </MenuItem>
        {canEdit && (
          <>
            <MenuSeparator />
            <MenuItem danger icon={<Trash2 size={15} />} onSelect={remove}>
              Delete
            </MenuItem>
          </>
        )}
      </Menu>
    </li>
  )
}
