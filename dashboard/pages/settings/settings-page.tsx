// The settings: workspace, members, API keys, tools, erasures, the audit log, the server, and the user's own account.

import { useSearch } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { useWorkspace } from '../../shell/use-workspace.ts'
import { Page } from '../../ui/page.tsx'
import { SkeletonRows } from '../../ui/skeleton.tsx'
import { TabLinks } from '../../ui/tab-links.tsx'
import { keepPlace } from './keep-place.ts'

const PARTS = [
  {
    tab: undefined,
    label: 'Workspace',
    Part: lazy(() => import('./workspace-settings.tsx').then((m) => ({ default: m.WorkspaceSettings }))),
  },
  {
    tab: 'members',
    label: 'Members',
    Part: lazy(() => import('./member-settings.tsx').then((m) => ({ default: m.MemberSettings }))),
  },
  {
    tab: 'keys',
    label: 'API keys',
    Part: lazy(() => import('./key-settings.tsx').then((m) => ({ default: m.KeySettings }))),
  },
  {
    tab: 'tools',
    label: 'Tools',
    Part: lazy(() => import('./tool-settings.tsx').then((m) => ({ default: m.ToolSettings }))),
  },
  {
    tab: 'erasures',
    label: 'Erasures',
    Part: lazy(() => import('./erasure-settings.tsx').then((m) => ({ default: m.ErasureSettings }))),
  },
  {
    tab: 'audit',
    label: 'Audit log',
    Part: lazy(() => import('./audit-settings.tsx').then((m) => ({ default: m.AuditSettings }))),
  },
  {
    tab: 'health',
    label: 'Health',
    Part: lazy(() => import('./server-health.tsx').then((m) => ({ default: m.ServerHealth }))),
  },
  {
    tab: 'account',
    label: 'Account',
    Part: lazy(() => import('./account/account-settings.tsx').then((m) => ({ default: m.AccountSettings }))),
  },
] as const

export function SettingsPage() {
  const { id, role, operatesServer } = useWorkspace()
  const { tab } = useSearch({ from: '/$workspaceId/settings' })
  const open = PARTS.find((part) => part.tab === tab) ?? PARTS[0]
  const to = '/$workspaceId/settings' as const
  return (
    <Page title="Settings">
      <TabLinks
        label="Settings"
        className="mb-6"
        current={open.label}
        tabs={PARTS.filter((part) => part.tab !== 'audit' || role === 'owner')
          .filter((part) => part.tab !== 'health' || operatesServer)
          .map(({ tab: part, label }) => ({
            id: label,
            label,
            link: { to, params: { workspaceId: String(id) }, search: { tab: part } },
          }))}
      />
      <Suspense fallback={<SkeletonRows rows={3} className="h-40" />}>
        <div ref={keepPlace} className="grid max-w-3xl gap-6">
          <open.Part />
        </div>
      </Suspense>
    </Page>
  )
}
