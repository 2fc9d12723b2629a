// The pages of a workspace, in the order of the sidebar. The command palette and the `g …` shortcuts use the same
// list.

import {
  ArrowDownUp,
  BarChart3,
  FileText,
  Globe,
  Inbox,
  Link2,
  type LucideIcon,
  Megaphone,
  Send,
  Settings,
  Tag,
} from 'lucide-react'
import type { ComponentType } from 'react'
import { ChannelsBadge } from './channels-badge.tsx'
import { InboxBadge } from './inbox-badge.tsx'

export interface NavItem {
  to:
    | '/$workspaceId/links'
    | '/$workspaceId/analytics'
    | '/$workspaceId/forms'
    | '/$workspaceId/inbox'
    | '/$workspaceId/tags'
    | '/$workspaceId/domains'
    | '/$workspaceId/channels'
    | '/$workspaceId/deliveries'
    | '/$workspaceId/transfer'
    | '/$workspaceId/settings'
  label: string
  icon: LucideIcon
  /** The second key of the shortcut, after `g`. */
  key: string
  /** The badge at the end of the row, such as a count. It draws nothing where there is nothing to say. */
  Badge?: ComponentType
}

export const NAV_ITEMS: NavItem[] = [
  { to: '/$workspaceId/links', label: 'Links', icon: Link2, key: 'l' },
  { to: '/$workspaceId/analytics', label: 'Analytics', icon: BarChart3, key: 'a' },
  { to: '/$workspaceId/forms', label: 'Forms', icon: FileText, key: 'f' },
  { to: '/$workspaceId/inbox', label: 'Inbox', icon: Inbox, key: 'i', Badge: InboxBadge },
  { to: '/$workspaceId/tags', label: 'Tags', icon: Tag, key: 't' },
  { to: '/$workspaceId/domains', label: 'Domains', icon: Globe, key: 'o' },
  { to: '/$workspaceId/channels', label: 'Channels', icon: Megaphone, key: 'c', Badge: ChannelsBadge },
  { to: '/$workspaceId/deliveries', label: 'Deliveries', icon: Send, key: 'd' },
  { to: '/$workspaceId/transfer', label: 'Import and export', icon: ArrowDownUp, key: 'm' },
  { to: '/$workspaceId/settings', label: 'Settings', icon: Settings, key: 's' },
]
