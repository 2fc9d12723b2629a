// The shortcuts of the list of links. They act on the focused link; Enter opens it.

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
  handlers: LinkListItemHandlers
}

export function useLinkShortcuts(targets: ShortcutTargets) {
  const latest = useRef(targets)
  latest.current = targets
  useShortcuts(
    useMemo(() => {
      const move = (by: number) => () => latest.current.list.current?.move(by)
      const onLink = (action: (link: LinkResource, targets: ShortcutTargets) => void) => () => {
        const link = latest.current.list.current?.current()
        if (link) action(link, latest.current)
      }
      return [
        { keys: '/', label: 'Search', run: () => latest.current.searchField.current?.focus() },
        { keys: 'j', label: 'Next link (Enter opens it)', run: move(1) },
        { keys: 'k', label: 'Previous link', run: move(-1) },
        {
          keys: 'e',
          label: 'Edit link',
          changes: true,
          run: onLink((link, { handlers }) => handlers.edit(link)),
        },
        { keys: 'c', label: 'Copy link', run: onLink((link) => void copyLink(link)) },
        { keys: 'q', label: 'Show QR code', run: onLink((link, { handlers }) => handlers.showQr(link)) },
        {
          keys: 'x',
          label: 'Select link',
          changes: true,
          run: onLink((link, { selection }) => selection.toggle(link.id)),
        },
        {
          keys: 'a',
          label: 'Archive or unarchive link',
          changes: true,
          run: onLink((link, { handlers }) => handlers.archive(link)),
        },
        {
          keys: '#',
          label: 'Delete link',
          changes: true,
          run: onLink((link, { handlers }) => handlers.remove(link)),
        },
        { keys: 'Escape', label: 'Clear selection', run: () => latest.current.selection.clear() },
      ]
    }, []),
  )
}
