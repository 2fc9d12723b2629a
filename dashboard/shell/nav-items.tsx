// The seven places of a workspace, in the order of the sidebar, and the pages inside them. The command palette and the
// `g …` shortcuts use both.

import { useQuery } from '@tanstack/react-query'
import {
  ArrowDownUp,
  BarChart3,
  Bell,
  FileText,
  Globe,
  Inbox,
  Link2,
  type LucideIcon,
  Radio,
  Send,
  Settings,
  ShieldCheck,
  Tag,
} from 'lucide-react'
import type { ComponentType } from 'react'
import { channelsQuery } from '../api/channels.ts'
import { unreadCountQuery } from '../api/unread-count.ts'
import { isInTrouble } from '../pages/channels/is-in-trouble.ts'
import { formatCount, formatUnread } from '../ui/format.ts'
import { PinnedTags } from './pinned-tags.tsx'
import { useApi } from './use-workspace.ts'

export interface NavItem {
  to:
    | '/$workspaceId/links'
    | '/$workspaceId/analytics'
    | '/$workspaceId/analytics/live'
    | '/$workspaceId/analytics/proofs'
    | '/$workspaceId/forms'
    | '/$workspaceId/inbox'
    | '/$workspaceId/domains'
    | '/$workspaceId/notifications'
    | '/$workspaceId/notifications/deliveries'
    | '/$workspaceId/settings/tags'
    | '/$workspaceId/settings/transfer'
    | '/$workspaceId/settings'
  label: string
  icon: LucideIcon
  /** The second key of the shortcut, after `g`. */
  key: string
  /** The badge at the end of the row, such as a count. Hidden when empty. */
  Badge?: ComponentType
  /** Content below the row. */
  Inner?: ComponentType
}

export const NAV_ITEMS: NavItem[] = [
  { to: '/$workspaceId/links', label: 'Links', icon: Link2, key: 'l', Inner: PinnedTags },
  { to: '/$workspaceId/analytics', label: 'Analytics', icon: BarChart3, key: 'a' },
  { to: '/$workspaceId/inbox', label: 'Inbox', icon: Inbox, key: 'i', Badge: InboxBadge },
  { to: '/$workspaceId/forms', label: 'Forms', icon: FileText, key: 'f' },
  { to: '/$workspaceId/notifications', label: 'Notifications', icon: Bell, key: 'n', Badge: ChannelsBadge },
  { to: '/$workspaceId/domains', label: 'Domains', icon: Globe, key: 'o' },
  { to: '/$workspaceId/settings', label: 'Settings', icon: Settings, key: 's' },
]

/** Pages inside a place: the sidebar shows the place only. */
export const INNER_PAGES: NavItem[] = [
  { to: '/$workspaceId/analytics/live', label: 'Live', icon: Radio, key: 'v' },
  { to: '/$workspaceId/analytics/proofs', label: 'Proofs', icon: ShieldCheck, key: 'p' },
  { to: '/$workspaceId/notifications/deliveries', label: 'Deliveries', icon: Send, key: 'd' },
  { to: '/$workspaceId/settings/tags', label: 'Tags', icon: Tag, key: 't' },
  { to: '/$workspaceId/settings/transfer', label: 'Import and export', icon: ArrowDownUp, key: 'm' },
]

const REFRESH_MS = 60_000

/** The number of channels that send nothing. Draws nothing while all channels work. */
function ChannelsBadge() {
  const { data } = useQuery({
    ...channelsQuery(useApi()),
    staleTime: REFRESH_MS,
    refetchInterval: REFRESH_MS,
  })
  const failing = data?.data.filter(isInTrouble).length ?? 0
  if (failing === 0) return null
  const text = `${formatCount(failing, 'channel')} not working`
  return (
    <span title={text} className="ml-auto rounded-md bg-danger-tint px-1.5 text-xs font-medium text-danger">
      <span aria-hidden>{failing}</span>
      <span className="sr-only">{text}</span>
    </span>
  )
}

/** The number of unread submissions, in the sidebar's row of the inbox. */
function InboxBadge() {
  const { data: unread = 0 } = useQuery(unreadCountQuery(useApi()))
  if (unread === 0) return null
  return (
    <span className="ml-auto rounded-md bg-accent px-1.5 text-xs leading-5 font-medium text-on-accent tabular-nums">
      {formatUnread(unread)}
      <span className="sr-only"> unread</span>
    </span>
  )
}
