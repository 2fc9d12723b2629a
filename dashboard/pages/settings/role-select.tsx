// The choice of a role in the workspace, and what each role is called.

import type { MemberResource } from '../../api/workspace.ts'
import { Select, type SelectProps } from '../../ui/forms/select.tsx'

export const ROLE_LABELS: Record<MemberResource['role'], string> = {
  owner: 'Owner',
  member: 'Member',
  viewer: 'Viewer',
}

export const RoleSelect = ({
  onChange,
  ...props
}: Omit<SelectProps, 'onChange' | 'children'> & { onChange: (role: MemberResource['role']) => void }) => (
  <Select
    {...props}
    onChange={(event) => onChange(event.target.value as MemberResource['role'])}
    options={Object.entries(ROLE_LABELS)}
  />
)
