// The settings: workspace, members, API keys, tools, UTM templates, erasures, the audit log, the server, and the user's own account.

import { useSearch } from '@tanstack/react-router'
import { lazy } from 'react'
import { SettingsFrame } from './settings-frame.tsx'

const PARTS = {
  workspace: lazy(() => import('./workspace-settings.tsx').then((m) => ({ default: m.WorkspaceSettings }))),
  members: lazy(() => import('./member-settings.tsx').then((m) => ({ default: m.MemberSettings }))),
  keys: lazy(() => import('./key-settings.tsx').then((m) => ({ default: m.KeySettings }))),
  tools: lazy(() => import('./tool-settings.tsx').then((m) => ({ default: m.ToolSettings }))),
  utm: lazy(() =>
    import('./utm-templates/utm-template-settings.tsx').then((m) => ({ default: m.UtmTemplateSettings })),
  ),
  erasures: lazy(() => import('./erasure-settings.tsx').then((m) => ({ default: m.ErasureSettings }))),
  audit: lazy(() => import('./audit-settings.tsx').then((m) => ({ default: m.AuditSettings }))),
  health: lazy(() => import('./server-health.tsx').then((m) => ({ default: m.ServerHealth }))),
  account: lazy(() => import('./account/account-settings.tsx').then((m) => ({ default: m.AccountSettings }))),
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
