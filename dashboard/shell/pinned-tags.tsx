// The pinned tags of the workspace, in the sidebar under Links: folders of links.

import { Link } from '@tanstack/react-router'
import { type TagColor, TagDot } from '../ui/tag-chip.tsx'
import { useOptionalWorkspace } from './use-workspace.ts'

export function PinnedTags() {
  const workspace = useOptionalWorkspace()
  if (!workspace?.pinnedTags?.length) return null
  return (
    <ul aria-label="Pinned tags" className="mt-0.5 grid max-h-72 gap-0.5 overflow-y-auto">
      {workspace.pinnedTags.map(({ id, name, color }) => (
        <li key={id}>
          <Link
            to="/$workspaceId/links"
            params={{ workspaceId: String(workspace.id) }}
            search={{ tagId: String(id) }}
            className="flex h-8 items-center gap-2.5 rounded-lg pr-2.5 pl-9 text-sm text-soft hover:bg-hover hover:text-ink"
            activeProps={{ className: 'bg-hover font-medium text-ink!' }}
          >
            <TagDot color={color as TagColor} />
            <span className="min-w-0 flex-1 truncate">{name}</span>
          </Link>
        </li>
      ))}
    </ul>
  )
}
