// The Links page by keyboard. A link that is focused is the one that the keys are about; Enter opens it.

import { type RefObject, useMemo, useRef } from 'react'
import type { LinkResource } from '../../../server/features/links/schema.ts'
import { useShortcuts } from '../../ui/shortcuts.ts'
import { copyLink } from './actions.ts'
import type { ListHandle } from './list.tsx'
import type { RowActs } from './row.tsx'
import type { Selection } from './selection.ts'

interface Needs {
  list: RefObject<ListHandle | null>
  searchField: RefObject<HTMLInputElement | null>
  selection: Selection
  acts: RowActs
  create: () => void
}

export function useLinkKeys(needs: Needs) {
  const now = useRef(needs)
  now.current = needs
  useShortcuts(
    useMemo(() => {
      const move = (by: number) => () => now.current.list.current?.move(by)
      const on = (act: (link: LinkResource, needs: Needs) => void) => () => {
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
