// The sidebar: the workspace, the search, the places with their badges, help, the account. On phones it is a bar with a menu.

import { useSuspenseQuery } from '@tanstack/react-query'
import { Link, useRouterState } from '@tanstack/react-router'
import { Check, ChevronsUpDown, Menu as MenuIcon, Plus, Search, X } from 'lucide-react'
import { useEffect, useState } from 'react'
import { workspacesQuery } from '../api/session.ts'
import { IconButton } from '../ui/button.tsx'
import { classNames } from '../ui/class-names.ts'
import { Menu, MenuItem, MenuSeparator } from '../ui/overlays/menu.tsx'
import { PALETTE_KEYS } from '../ui/shortcuts.ts'
import { AccountMenu } from './account-menu.tsx'
import { HelpMenu } from './help-menu.tsx'
import { Logo } from './logo.tsx'
import { NAV_ITEMS } from './nav-items.tsx'
import { useOptionalWorkspace } from './use-workspace.ts'

interface SidebarProps {
  openPalette: () => void
  openShortcuts: () => void
}

export function Sidebar({ openPalette, openShortcuts }: SidebarProps) {
  const [open, setOpen] = useState(false)
  const path = useRouterState({ select: (state) => state.location.pathname })
  // biome-ignore lint/correctness/useExhaustiveDependencies: the phone's menu closes when the page changes
  useEffect(() => setOpen(false), [path])
  return (
    <aside className="sticky top-0 z-30 border-b border-line bg-card lg:h-dvh lg:border-r lg:border-b-0">
      <div className="flex h-full flex-col">
        <div className="flex items-center gap-1 p-2 lg:p-3">
          <WorkspaceMenu />
          <IconButton label="Search and commands" className="ml-auto lg:hidden" onClick={openPalette}>
            <Search size={18} />
          </IconButton>
          <IconButton
            label={open ? 'Close menu' : 'Open menu'}
            aria-expanded={open}
            aria-controls="places"
            className="lg:hidden"
            onClick={() => setOpen(!open)}
          >
            {open ? <X size={18} /> : <MenuIcon size={18} />}
          </IconButton>
        </div>
        <div
          id="places"
          className={classNames(
            'flex-1 flex-col px-3 pb-3 max-lg:h-[calc(100dvh-3.25rem)] lg:flex',
            open ? 'flex' : 'hidden',
          )}
        >
          <button
            type="button"
            onClick={openPalette}
            className="mb-3 hidden h-8 items-center gap-2 rounded-lg border border-line bg-paper px-2.5 text-sm text-soft hover:text-ink lg:flex"
          >
            <Search size={15} />
            <span className="flex-1 text-left">Search</span>
            <kbd className="text-xs">{PALETTE_KEYS}</kbd>{' '}
          </button>
          <Navigation />
          <div className="mt-auto">
            <HelpMenu openShortcuts={openShortcuts} />
            <div className="border-t border-line pt-2">
              <AccountMenu />
            </div>
          </div>
        </div>
      </div>
    </aside>
  )
}

function Navigation() {
  const workspace = useOptionalWorkspace()
  return (
    <nav aria-label="Workspace">
      <ul className="grid gap-0.5">
        {NAV_ITEMS.map(({ to, label, icon: Icon, Badge, Inner }) => (
          <li key={to}>
            <Link
              to={to}
              params={{ workspaceId: String(workspace?.id) }}
              search={{}}
              activeOptions={{ includeSearch: false }}
              className="flex h-9 items-center gap-2.5 rounded-lg px-2.5 text-soft hover:bg-hover hover:text-ink"
              activeProps={{
                className: 'bg-tint font-medium text-accent! hover:bg-tint',
                'aria-current': 'page',
              }}
            >
              <Icon size={17} aria-hidden />
              {label}
              {Badge && <Badge />}
            </Link>
            {Inner && <Inner />}
          </li>
        ))}
      </ul>
    </nav>
  )
}

/** The name of the current workspace, with a menu of the others. */
function WorkspaceMenu() {
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
