// The Links page by keyboard. A link that is focused is the one that the keys are about; Enter opens it.

import { type RefObject, useMemo, useRef } from 'react'
import type { LinkResource } from '../../../../server/features/links/schema.ts'
import { useShortcuts } from '../../../ui/shortcuts.ts'
import { copyLink } from '../link/use-link-actions.ts'
import type { LinkListHandle } from './link-list.tsx'
import type { LinkListItemHandlers } from './link-list-item.tsx'
import type { LinkSelection } from './use-link-selection.ts'

interface ShortcutTargets {
  list: RefObject<LinkListHandle | null>
  searchField: RefObject<HTMLInputElement | null>
  selection: LinkSelection
  acts: LinkListItemHandlers
  create: () => void
}

export function useLinkShortcuts(needs: ShortcutTargets) {
  const now = useRef(needs)
  now.current = needs
  useShortcuts(
    useMemo(() => {
      const move = (by: number) => () => now.current.list.current?.move(by)
      const on = (act: (link: LinkResource, needs: ShortcutTargets) => void) => () => {
        const link = now.current.list.current?.current()
        if (link) act(link, now.current)
      }
      return [
        { keys: 'n', label: 'New link', run: () => now.current.create() },
        { keys: '/', label: 'Search', run: () => now.current.searchField.current?.focus() },
        { keys: 'j', label: 'Next link (Enter opens it)', run: move(1) },
        { keys: 'k', label: 'Link before', run: move(-1) },
        { keys: 'e', label: 'Edit the link', run: on((link, { acts }) => acts.edit(link)) },
        { keys: 'c', label: 'Copy the link', run: on((link) => void copyLink(link)) },
        { keys: 'q', label: 'QR code of the link', run: on((link, { acts }) => acts.showQr(link)) },
        {
          keys: 'x',
          label: 'Select the link',
          run: on((link, { selection }) => selection.toggle(link.id)),
        },
        {
          keys: 'a',
          label: 'Archive the link, or bring it back',
          run: on((link, { acts }) => acts.archive(link)),
        },
        { keys: '#', label: 'Delete the link', run: on((link, { acts }) => acts.remove(link)) },
        { keys: 'Escape', label: 'Select nothing', run: () => now.current.selection.clear() },
      ]
    }, []),
  )
}
