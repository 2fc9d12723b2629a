// The frame of every page of a workspace: the sidebar (a top bar with a menu on phones), the palette, the shortcuts.

import { useSuspenseQuery } from '@tanstack/react-query'
import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router'
import { Menu as MenuIcon, Search, X } from 'lucide-react'
import { lazy, Suspense, useEffect, useMemo, useState } from 'react'
import { userQuery } from '../api/session.ts'
import { IconButton } from '../ui/button.tsx'
import { classNames } from '../ui/class-names.ts'
import { handleShortcut, PALETTE_KEYS, setReadOnlyShortcuts, useShortcuts } from '../ui/shortcuts.ts'
import { AccountMenu } from './account-menu.tsx'
import { NotFoundPage } from './error-pages.tsx'
import { saveLastWorkspace } from './last-workspace.ts'
import { NAV_ITEMS } from './nav-items.tsx'
import { SecondFactorRequired } from './second-factor-required.tsx'
import { useCanEdit, useOptionalWorkspace } from './use-workspace.ts'
import { ViewerNotice } from './viewer.tsx'
import { WorkspaceMenu } from './workspace-menu.tsx'

const CommandPalette = lazy(() =>
  import('./command-palette.tsx').then(({ CommandPalette }) => ({ default: CommandPalette })),
)
const ShortcutList = lazy(() =>
  import('./shortcut-list.tsx').then(({ ShortcutList }) => ({ default: ShortcutList })),
)

export function Shell() {
  const workspace = useOptionalWorkspace()
  const canEdit = useCanEdit()
  const [overlay, open] = useState<'palette' | 'shortcuts' | null>(null)
  const close = () => open(null)
  useShellShortcuts(String(workspace?.id), open)
  useEffect(() => {
    if (workspace) saveLastWorkspace(workspace.id)
  }, [workspace])
  const [isBlocked, unblock] = useSecondFactorGate(workspace)
  useEffect(() => setReadOnlyShortcuts(!canEdit), [canEdit])
  if (!workspace) return <NotFoundPage />
  return (
    <div className="min-h-dvh lg:grid lg:grid-cols-[15rem_minmax(0,1fr)]">
      <a
        href="#main"
        className="sr-only z-50 rounded-lg bg-card px-3 py-2 focus:not-sr-only focus:fixed focus:top-2 focus:left-2"
      >
        Skip to content
      </a>
      <Sidebar openPalette={() => open('palette')} />
      <div key={workspace.id} className="min-w-0">
        {!canEdit && <ViewerNotice />}
        {isBlocked ? <SecondFactorRequired workspace={workspace.name} onDone={unblock} /> : <Outlet />}
      </div>
      <Suspense>
        {overlay === 'palette' && <CommandPalette onClose={close} />}
        {overlay === 'shortcuts' && <ShortcutList onClose={close} />}
      </Suspense>
    </div>
  )
}

/**
 * Whether the workspace requires a second factor that the user does not have. It stays true until the user has saved
 * the recovery codes, which are shown only once.
 */
function useSecondFactorGate(workspace: { requireTwoFactor: boolean } | undefined) {
  const { data: user } = useSuspenseQuery(userQuery)
  const isMissing = workspace?.requireTwoFactor === true && user?.secondFactor === false
  const [isOpen, setOpen] = useState(false)
  useEffect(() => {
    if (isMissing) setOpen(true)
  }, [isMissing])
  // The settings of the account need no workspace.
  const isAccount = useRouterState({
    select: ({ location }) => location.pathname.endsWith('/settings') && location.search.tab === 'account',
  })
  const isBlocked = isMissing || (isOpen && workspace?.requireTwoFactor === true)
  return [isBlocked && !isAccount, () => setOpen(false)] as const
}

function Sidebar({ openPalette }: { openPalette: () => void }) {
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
          <div className="mt-auto border-t border-line pt-2">
            <AccountMenu />
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
        {NAV_ITEMS.map(({ to, label, icon: Icon }) => (
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
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  )
}

function useShellShortcuts(workspaceId: string, open: (overlay: 'palette' | 'shortcuts') => void) {
  const navigate = useNavigate()
  const shortcuts = useMemo(
    () => [
      { keys: '?', label: 'Show keyboard shortcuts', run: () => open('shortcuts') },
      ...NAV_ITEMS.map(({ to, label, key }) => ({
        keys: `g ${key}`,
        label: `Go to ${label}`,
        run: () => void navigate({ to, params: { workspaceId }, search: {} }),
      })),
    ],
    [navigate, workspaceId, open],
  )
  useShortcuts(shortcuts)
  useEffect(() => {
    const handleKeyDown = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() === 'k' && (event.metaKey || event.ctrlKey)) {
        event.preventDefault()
        open('palette')
      } else handleShortcut(event)
    }
    addEventListener('keydown', handleKeyDown)
    return () => removeEventListener('keydown', handleKeyDown)
  }, [open])
}
