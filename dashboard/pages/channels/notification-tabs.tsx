// The two pages of notifications: where they go, and what became of each.

import { TabLinks } from '../../ui/tab-links.tsx'

const TABS = [
  { id: 'channels', label: 'Channels', link: { to: '/$workspaceId/notifications' } },
  { id: 'deliveries', label: 'Deliveries', link: { to: '/$workspaceId/notifications/deliveries' } },
] as const

export const NotificationTabs = ({ current }: { current: 'channels' | 'deliveries' }) => (
  <TabLinks
    label="Notifications"
    className="mb-5"
    current={current}
    tabs={TABS.map((tab) => ({ ...tab, link: { ...tab.link, params: true, search: {} } }))}
  />
)
