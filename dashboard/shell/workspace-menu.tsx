// The name of the current workspace, with a menu of the others.

import { useSuspenseQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Check, ChevronsUpDown, Plus } from 'lucide-react'
import { workspacesQuery } from '../api/session.ts'
import { Menu, MenuItem, MenuSeparator } from '../ui/overlays/menu.tsx'
import { Logo } from './logo.tsx'
import { useOptionalWorkspace } from './use-workspace.ts'

export function WorkspaceMenu() {
  const current = useOptionalWorkspace()
  const { data } = useSuspenseQuery(workspacesQuery)
  return (
    <Menu
      align="start"
      trigger={
        <button
          type="button"
          aria-label={`Workspace: ${current?.name}`}
          className="flex h-9 min-w-0 flex-1 items-center gap-2.5 rounded-lg px-2 text-left hover:bg-hover"
        >
          <Logo />
          <span className="truncate font-semibold">{current?.name}</span>
          <ChevronsUpDown size={15} className="ml-auto shrink-0 text-soft" />
        </button>
      }
    >
      {data.map((workspace) => (
        <MenuItem
          key={workspace.id}
          render={
            <Link to="/$workspaceId/links" params={{ workspaceId: String(workspace.id) }} search={{}} />
          }
        >
          <span className="min-w-0 flex-1 truncate">{workspace.name}</span>
          {workspace.id === current?.id && <Check size={15} aria-label="open" />}
        </MenuItem>
      ))}
      <MenuSeparator />
      <MenuItem icon={<Plus size={15} />} render={<Link to="/new-workspace" />}>
        New workspace
      </MenuItem>
    </Menu>
  )
}
