// The help menu of the sidebar: the API reference, the shortcuts, the server's health, and what is new.

import { Link } from '@tanstack/react-router'
import { CircleHelp } from 'lucide-react'
import { useState } from 'react'
import { lazyPart } from '../ui/lazy-part.tsx'
import { Menu, MenuItem, MenuSeparator } from '../ui/overlays/menu.tsx'
import { useOperatedWorkspace, useOptionalWorkspace } from './use-workspace.ts'

const WhatsNew = lazyPart(() => import('./whats-new.tsx'), 'WhatsNew')

export function HelpMenu({ openShortcuts }: { openShortcuts: () => void }) {
  const workspace = useOptionalWorkspace()
  const operated = useOperatedWorkspace()
  const [isNewOpen, setNewOpen] = useState(false)
  return (
    <>
      <Menu
        align="start"
        trigger={
          <button
            type="button"
            className="mb-1 flex h-9 w-full items-center gap-2.5 rounded-lg px-2.5 text-soft hover:bg-hover hover:text-ink"
          >
            <CircleHelp size={17} aria-hidden />
            Help
          </button>
        }
      >
        <MenuItem render={<a href="/docs" />}>API reference</MenuItem>
        <MenuItem onSelect={openShortcuts}>Keyboard shortcuts</MenuItem>
        {operated && (
          <MenuItem
            render={
              <Link
                to="/$workspaceId/settings"
                params={{ workspaceId: String(workspace?.id) }}
                search={{ tab: 'health' }}
              />
            }
          >
            Server health
          </MenuItem>
        )}
        <MenuSeparator />
        <MenuItem onSelect={() => setNewOpen(true)}>What’s new</MenuItem>
      </Menu>
      {isNewOpen && <WhatsNew onClose={() => setNewOpen(false)} />}
    </>
  )
}
