// The pinned tags of the workspace, in the sidebar under Links: folders of links.

import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { pinnedTagsQuery } from '../api/tags.ts'
import { TagDot } from '../ui/tag-chip.tsx'
import { useApi } from './use-workspace.ts'

export function PinnedTags() {
  const api = useApi()
  const { data: tags = [] } = useQuery(pinnedTagsQuery(api))
  if (tags.length === 0) return null
  return (
    <ul aria-label="Pinned tags" className="mt-0.5 grid max-h-72 gap-0.5 overflow-y-auto">
      {tags.map(({ id, name, color, links }) => (
        <li key={id}>
          <Link
            to="/$workspaceId/links"
            params={{ workspaceId: String(api.workspaceId) }}
            search={{ tagId: String(id) }}
            className="flex h-8 items-center gap-2.5 rounded-lg pr-2.5 pl-9 text-sm text-soft hover:bg-hover hover:text-ink"
            activeProps={{ className: 'bg-hover font-medium text-ink!' }}
          >
            <TagDot color={color} />
            <span className="min-w-0 flex-1 truncate">{name}</span>
            <span aria-hidden className="text-xs tabular-nums">
              {links}
            </span>
          </Link>
        </li>
      ))}
    </ul>
  )
}
