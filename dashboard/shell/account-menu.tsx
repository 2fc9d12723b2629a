// The menu of the signed-in user: account, theme, sign out.

import { useSuspenseQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ChevronsUpDown, LogOut, Monitor, Moon, Sun, User } from 'lucide-react'
import { useState } from 'react'
import { userQuery } from '../api/session.ts'
import { Menu, MenuItem, MenuSeparator } from '../ui/overlays/menu.tsx'
import { readTheme, setTheme, type Theme } from '../ui/theme.ts'
import { useSignOut } from './use-sign-out.ts'
import { useOptionalWorkspace } from './use-workspace.ts'

const THEMES = [
  { theme: 'system', label: 'System', icon: Monitor },
  { theme: 'light', label: 'Light', icon: Sun },
  { theme: 'dark', label: 'Dark', icon: Moon },
] as const

export function AccountMenu() {
  const { data: user } = useSuspenseQuery(userQuery)
  const workspace = useOptionalWorkspace()
  const signOut = useSignOut()
  return (
    <Menu
      align="start"
      trigger={
        <button
          type="button"
          className="flex w-full items-center gap-2.5 rounded-lg px-2 py-1.5 text-left hover:bg-hover"
        >
          <span
            aria-hidden
            className="grid size-7 shrink-0 place-items-center rounded-full bg-tint text-sm font-semibold text-accent"
          >
            {(user?.name || user?.email || '?').slice(0, 1).toUpperCase()}
          </span>
          <span className="sr-only">Account of</span>
          <span className="min-w-0 flex-1 text-sm leading-tight">
            <span className="block truncate font-medium">{user?.name}</span>
            <span className="block truncate text-soft">{user?.email}</span>
          </span>
          <ChevronsUpDown size={15} className="shrink-0 text-soft" />
        </button>
      }
    >
      <MenuItem
        render={
          <Link
            to="/$workspaceId/settings"
            params={{ workspaceId: String(workspace?.id) }}
            search={{ tab: 'account' }}
          />
        }
        icon={<User size={15} />}
      >
        Account
      </MenuItem>
      <MenuSeparator />
      <ThemeItems />
      <MenuSeparator />
      <MenuItem icon={<LogOut size={15} />} onSelect={() => void signOut()}>
        Sign out
      </MenuItem>
    </Menu>
  )
}

function ThemeItems() {
  const [current, setCurrent] = useState<Theme>(readTheme)
  const choose = (theme: Theme) => {
    setTheme(theme)
    setCurrent(theme)
  }
  return THEMES.map(({ theme, label, icon: Icon }) => (
    <MenuItem key={theme} icon={<Icon size={15} />} onSelect={() => choose(theme)}>
      <span className="flex-1">{label}</span>
      {theme === current && <span className="text-accent">✓</span>}
    </MenuItem>
  ))
}
