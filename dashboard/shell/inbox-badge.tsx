// The number of unread submissions, in the sidebar's row of the inbox.

import { useQuery } from '@tanstack/react-query'
import { unreadCountQuery } from '../api/unread-count.ts'
import { formatUnread } from '../ui/format.ts'
import { useApi } from './use-workspace.ts'

export function InboxBadge() {
  const { data: unread = 0 } = useQuery(unreadCountQuery(useApi()))
  if (unread === 0) return null
  return (
    <span className="ml-auto rounded-md bg-accent px-1.5 text-xs leading-5 font-medium text-on-accent tabular-nums">
      {formatUnread(unread)}
      <span className="sr-only"> unread</span>
    </span>
  )
}
