// Import and export: bring links of other tools with their history, and take everything along.

import { useSearch } from '@tanstack/react-router'
import { useWorkspace } from '../../shell/use-workspace.ts'
import { lazyPart } from '../../ui/lazy-part.tsx'
import { SkeletonRows } from '../../ui/skeleton.tsx'
import { TabLinks } from '../../ui/tab-links.tsx'
import { SettingsFrame } from '../settings/settings-frame.tsx'
import { SettingsHeading } from '../settings/settings-heading.tsx'

const LOADING = <SkeletonRows rows={3} className="h-40" />

const PARTS = [
  {
    tab: undefined,
    label: 'Import',
    Part: lazyPart(() => import('./import-tab.tsx'), 'ImportTab', LOADING),
  },
  {
    tab: 'export',
    label: 'Export',
    Part: lazyPart(() => import('./export-tab.tsx'), 'ExportTab', LOADING),
  },
] as const

export function TransferPage() {
  const { id } = useWorkspace()
  const { tab } = useSearch({ from: '/$workspaceId/settings/transfer' })
  const open = PARTS.find((part) => part.tab === tab) ?? PARTS[0]
  const to = '/$workspaceId/settings/transfer' as const
  return (
    <SettingsFrame part="transfer">
      <SettingsHeading
        title="Import and export"
        description="Bring your links with their history, and export everything anytime."
      />
      <TabLinks
        label="Import and export"
        current={open.label}
        tabs={PARTS.map(({ tab: part, label }) => ({
          id: label,
          label,
          link: { to, params: { workspaceId: String(id) }, search: { tab: part } },
        }))}
      />
      <open.Part />
    </SettingsFrame>
  )
}
