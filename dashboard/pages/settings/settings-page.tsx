// The settings: workspace, members, API keys, tools, UTM templates, erasures, the audit log, the server, and the user's own account.

import { useSearch } from '@tanstack/react-router'
import { lazyPart } from '../../ui/lazy-part.tsx'
import { SkeletonRows } from '../../ui/skeleton.tsx'
import { SettingsFrame } from './settings-frame.tsx'

const LOADING = <SkeletonRows rows={3} className="h-40" />

const PARTS = {
  workspace: lazyPart(() => import('./workspace-settings.tsx'), 'WorkspaceSettings', LOADING),
  members: lazyPart(() => import('./member-settings.tsx'), 'MemberSettings', LOADING),
  keys: lazyPart(() => import('./key-settings.tsx'), 'KeySettings', LOADING),
  tools: lazyPart(() => import('./tool-settings.tsx'), 'ToolSettings', LOADING),
  utm: lazyPart(() => import('./utm-templates/utm-template-settings.tsx'), 'UtmTemplateSettings', LOADING),
  erasures: lazyPart(() => import('./erasure-settings.tsx'), 'ErasureSettings', LOADING),
  audit: lazyPart(() => import('./audit-settings.tsx'), 'AuditSettings', LOADING),
  health: lazyPart(() => import('./server-health.tsx'), 'ServerHealth', LOADING),
  account: lazyPart(() => import('./account/account-settings.tsx'), 'AccountSettings', LOADING),
}

const isPart = (tab: string): tab is keyof typeof PARTS => Object.hasOwn(PARTS, tab)

export function SettingsPage() {
  const { tab = '' } = useSearch({ from: '/$workspaceId/settings' })
  const part = isPart(tab) ? tab : 'workspace'
  const Part = PARTS[part]
  return (
    <SettingsFrame part={part}>
      <Part />
    </SettingsFrame>
  )
}
