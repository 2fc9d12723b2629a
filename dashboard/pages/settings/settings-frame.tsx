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
  /** The heading of a part that is no list of cards. */
  title?: string
  description?: ReactNode
  actions?: ReactNode
  children: ReactNode
}

export function SettingsFrame({ part, title, description, actions, children }: FrameProps) {
  const { id, role } = useWorkspace()
  const operated = useOperatedWorkspace()
  const params = { workspaceId: String(id) }
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
    <Page title={title ?? 'Settings'} heading="Settings">
      <div className={SIDE_NAV_GRID}>
        <TabLinks label="Settings" side current={part} tabs={tabs} />
        <div className={COLUMN}>
          {title && (
            <div className="mb-5 flex flex-wrap items-center gap-x-4 gap-y-2">
              <div className="min-w-0 flex-1 basis-60">
                <h2 className="text-lg font-semibold">{title}</h2>
                {description && <p className="text-soft">{description}</p>}
              </div>
              {actions}
            </div>
          )}
          <div ref={keepPlace} className="grid grid-cols-[minmax(0,1fr)] gap-6">
            {children}
          </div>
        </div>
      </div>
    </Page>
  )
}
