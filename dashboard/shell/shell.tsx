// The frame of every page of a workspace: the sidebar (a top bar with a menu on phones), the palette, the shortcuts.

import { useSuspenseQuery } from '@tanstack/react-query'
import { Outlet, useNavigate, useRouterState } from '@tanstack/react-router'
import { useEffect, useMemo, useRef, useState } from 'react'
import { userQuery } from '../api/session.ts'
import { lazyPart } from '../ui/lazy-part.tsx'
import { handleShortcut, isTaken, setReadOnlyShortcuts, useShortcuts } from '../ui/shortcuts.ts'
import { NoWorkspacePage } from './error-pages.tsx'
import { saveLastWorkspace } from './last-workspace.ts'
import { INNER_PAGES, NAV_ITEMS } from './nav-items.tsx'
import { WorkspaceGone } from './session/session-keeper.tsx'
import { Sidebar } from './sidebar.tsx'
import { useCanEdit, useOptionalWorkspace } from './use-workspace.ts'
import { ViewerNotice } from './viewer.tsx'

const CommandPalette = lazyPart(() => import('./command-palette.tsx'), 'CommandPalette')
const ShortcutList = lazyPart(() => import('./shortcut-list.tsx'), 'ShortcutList')
const SecondFactorRequired = lazyPart(() => import('./second-factor-required.tsx'), 'SecondFactorRequired')

type Overlay = 'palette' | 'shortcuts'

export function Shell() {
  const workspace = useOptionalWorkspace()
  const canEdit = useCanEdit()
  const [overlay, open] = useState<Overlay | null>(null)
  const pasted = usePastedUrl(open)
  const close = () => {
    pasted.current = ''
    open(null)
  }
  useShellShortcuts(String(workspace?.id), open)
  useEffect(() => {
    if (workspace) saveLastWorkspace(workspace.id)
  }, [workspace])
  const [isBlocked, unblock] = useSecondFactorGate(workspace)
  useEffect(() => setReadOnlyShortcuts(!canEdit), [canEdit])
  if (!workspace) return <NoWorkspacePage />
  return (
    <div className="min-h-dvh lg:grid lg:grid-cols-[15rem_minmax(0,1fr)]">
      <a
        href="#main"
        className="sr-only z-50 rounded-lg bg-card px-3 py-2 focus:not-sr-only focus:fixed focus:top-2 focus:left-2"
      >
        Skip to content
      </a>
      <Sidebar openPalette={() => open('palette')} openShortcuts={() => open('shortcuts')} />
      <div key={workspace.id} className="min-w-0">
        {!canEdit && <ViewerNotice />}
        {isBlocked ? <SecondFactorRequired workspace={workspace.name} onDone={unblock} /> : <Outlet />}
      </div>
      <WorkspaceGone workspaceId={workspace.id} />
      {overlay === 'palette' && <CommandPalette initialText={pasted.current} onClose={close} />}
      {overlay === 'shortcuts' && <ShortcutList onClose={close} />}
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

function useShellShortcuts(workspaceId: string, open: (overlay: Overlay) => void) {
  const navigate = useNavigate()
  const shortcuts = useMemo(
    () => [
      { keys: '?', label: 'Show keyboard shortcuts', run: () => open('shortcuts') },
      ...[...NAV_ITEMS, ...INNER_PAGES].map(({ to, label, key }) => ({
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

/** A URL that is pasted outside a field opens the palette, which finds its short link or offers to shorten it. */
function usePastedUrl(open: (overlay: Overlay) => void) {
  const pasted = useRef('')
  useEffect(() => {
    const handlePaste = (event: ClipboardEvent) => {
      const text = event.clipboardData?.getData('text/plain').trim() ?? ''
      if (isTaken(event) || !/^https?:\/\/\S+$/i.test(text)) return
      event.preventDefault()
      pasted.current = text
      open('palette')
    }
    addEventListener('paste', handlePaste)
    return () => removeEventListener('paste', handlePaste)
  }, [open])
  return pasted
}
