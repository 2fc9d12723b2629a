// Settings, one part after the other: the workspace, its people, its keys, and the own account.

import { Link, useSearch } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { useWorkspace } from '../../shell/workspace.ts'
import { Page } from '../../ui/page.tsx'
import { SkeletonRows } from '../../ui/states.tsx'

const PARTS = [
  {
    tab: undefined,
    label: 'Workspace',
    Part: lazy(() => import('./workspace.tsx').then((m) => ({ default: m.WorkspaceSettings }))),
  },
  {
    tab: 'members',
    label: 'Members',
    Part: lazy(() => import('./members.tsx').then((m) => ({ default: m.MemberSettings }))),
  },
  {
    tab: 'keys',
    label: 'API keys',
    Part: lazy(() => import('./keys.tsx').then((m) => ({ default: m.KeySettings }))),
  },
  {
    tab: 'account',
    label: 'Your account',
    Part: lazy(() => import('./account.tsx').then((m) => ({ default: m.AccountSettings }))),
  },
] as const

export function SettingsPage() {
  const { id } = useWorkspace()
  const { tab } = useSearch({ from: '/$workspaceId/settings' })
  const open = PARTS.find((part) => part.tab === tab) ?? PARTS[0]
  return (
    <Page title="Settings">
      <nav aria-label="Settings" className="mb-6 flex gap-1 overflow-x-auto border-b border-line">
        {PARTS.map((part) => (
          <Link
            key={part.label}
            to="/$workspaceId/settings"
            params={{ workspaceId: String(id) }}
            search={{ tab: part.tab }}
            aria-current={part === open ? 'page' : undefined}
            className="-mb-px border-b-2 border-transparent px-3 py-2 whitespace-nowrap text-soft hover:text-ink aria-[current=page]:border-accent aria-[current=page]:font-medium aria-[current=page]:text-ink"
          >
            {part.label}
          </Link>
        ))}
      </nav>
      <Suspense fallback={<SkeletonRows rows={3} className="h-40" />}>
        <div className="grid max-w-3xl gap-6">
          <open.Part />
        </div>
      </Suspense>
    </Page>
  )
}
