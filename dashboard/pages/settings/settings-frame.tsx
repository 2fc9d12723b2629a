// The frame of all settings: the side navigation and the open part. Tags, import and export are parts with their own
// address.

import type { ReactNode } from 'react'
import { useOperatedWorkspace, useWorkspace } from '../../shell/use-workspace.ts'
import { COLUMN, Page, SIDE_NAV_GRID } from '../../ui/page.tsx'
import { type TabLink, TabLinks } from '../../ui/tab-links.tsx'
import { keepPlace } from './keep-place.ts'

interface SettingsPart {
  id: string
  label: string
  to?: '/$workspaceId/settings/tags' | '/$workspaceId/settings/transfer'
}

const SETTINGS_PARTS: SettingsPart[] = [
  { id: 'workspace', label: 'Workspace' },
  { id: 'members', label: 'Members' },
  { id: 'keys', label: 'API keys' },
  { id: 'tools', label: 'Tools' },
  { id: 'tags', label: 'Tags', to: '/$workspaceId/settings/tags' },
  { id: 'utm', label: 'UTM templates' },
  { id: 'transfer', label: 'Import and export', to: '/$workspaceId/settings/transfer' },
  { id: 'erasures', label: 'Erasures' },
  { id: 'audit', label: 'Audit log' },
  { id: 'health', label: 'Server health' },
  { id: 'account', label: 'Account' },
]

interface FrameProps {
  /** The open part. */
  part: string
  children: ReactNode
}

export function SettingsFrame({ part, children }: FrameProps) {
  const { id, role } = useWorkspace()
  const operated = useOperatedWorkspace()
  const params = { workspaceId: String(id) }
  const title = SETTINGS_PARTS.find((each) => each.id === part)?.label ?? 'Settings'
  const parts = SETTINGS_PARTS.filter((each) => each.id !== 'audit' || role === 'owner').filter(
    (each) => each.id !== 'health' || operated,
  )
  const tabs: TabLink[] = parts.map(({ id: tab, label, to = '/$workspaceId/settings' as const }) => ({
    id: tab,
    label,
    link: {
      to,
      params,
      search: to === '/$workspaceId/settings' && tab !== 'workspace' ? { tab } : {},
    },
  }))
  return (
    <Page title={title} heading="Settings">
      <div className={SIDE_NAV_GRID}>
        <TabLinks label="Settings" side current={part} tabs={tabs} />
        <div className={COLUMN}>
          <div ref={keepPlace} className="grid grid-cols-[minmax(0,1fr)] gap-6">
            {children}
          </div>
        </div>
      </div>
    </Page>
  )
}
