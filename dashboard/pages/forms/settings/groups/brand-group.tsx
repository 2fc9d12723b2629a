// The brand of a form, where it differs from that of the workspace.

import { useQuery } from '@tanstack/react-query'
import { workspaceQuery } from '../../../../api/workspace.ts'
import { useApi } from '../../../../shell/use-workspace.ts'
import { BrandFields } from '../../../../ui/forms/brand-fields.tsx'
import type { GroupProps } from '../form-draft.ts'
import { SettingsGroup } from '../settings-group.tsx'

export function BrandGroup({ draft, set, errors }: GroupProps) {
  const { data: workspace } = useQuery(workspaceQuery(useApi()))
  return (
    <SettingsGroup id="brand" error={errors.brand}>
      <p className="text-soft">Leave a field empty to use the workspace’s brand.</p>
      <BrandFields
        brand={draft.brand}
        inherited={workspace?.brand}
        errors={errors}
        change={(part) => set({ brand: { ...draft.brand, ...part } })}
      />
    </SettingsGroup>
  )
}
