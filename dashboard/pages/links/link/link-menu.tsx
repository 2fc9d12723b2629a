// Everything that can be done to one link, behind its three dots.

import { Menu } from '@base-ui/react/menu'
import { Link } from '@tanstack/react-router'
import {
  Archive,
  ArchiveRestore,
  BarChart3,
  Copy,
  CopyPlus,
  ExternalLink,
  Pencil,
  QrCode,
  Trash2,
} from 'lucide-react'
import { useState } from 'react'
import type { LinkResource } from '../../../../server/features/links/schema.ts'
import { MenuItem, MenuSeparator } from '../../../ui/overlays/menu.tsx'
import type { LinkHandlers } from '../list/link-list-item.tsx'
import { toLinkName } from './link-state.tsx'
import { copyLink } from './use-link-actions.ts'

interface Props {
  link: LinkResource
  /** The button that was pressed. */
  anchor: HTMLElement
  /** null on the link's own page, which has its analytics already. */
  params: { workspaceId: string; linkId: string } | null
  acts: LinkHandlers
  onClose: () => void
}

/** One for the whole list: a menu in each row would be most of what drawing a row costs. */
export function LinkMenu({ link, anchor, params, acts, onClose }: Props) {
  const [open, setOpen] = useState(true)
  return (
    <Menu.Root
      modal={false}
      open={open}
      onOpenChange={(next) => next || setOpen(false)}
      onOpenChangeComplete={(now) => now || onClose()}
    >
      <Menu.Portal>
        <Menu.Positioner className="z-50" anchor={anchor} sideOffset={4} align="end">
          <Menu.Popup
            aria-label={`More for ${toLinkName(link)}`}
            finalFocus={() => anchor}
            className="appear min-w-44 rounded-xl border border-line bg-card p-1 shadow-lg outline-none"
          >
            <Items link={link} params={params} acts={acts} />
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  )
}

function Items({ link, params, acts }: Pick<Props, 'link' | 'params' | 'acts'>) {
  return (
    <>
      <MenuItem icon={<Copy size={15} />} onSelect={() => void copyLink(link)}>
        Copy <Key>c</Key>
      </MenuItem>
      <MenuItem icon={<Pencil size={15} />} onSelect={() => acts.edit(link)}>
        Edit <Key>e</Key>
      </MenuItem>
      <MenuItem icon={<QrCode size={15} />} onSelect={() => acts.showQr(link)}>
        QR code <Key>q</Key>
      </MenuItem>
      {params && (
        <MenuItem
          icon={<BarChart3 size={15} />}
          render={<Link to="/$workspaceId/links/$linkId" params={params} search={{}} />}
        >
          Analytics
        </MenuItem>
      )}
      <MenuItem
        icon={<ExternalLink size={15} />}
        render={<a href={link.shortUrl} target="_blank" rel="noreferrer noopener" />}
      >
        Open
      </MenuItem>
      <MenuItem icon={<CopyPlus size={15} />} onSelect={() => acts.duplicate(link)}>
        Duplicate
      </MenuItem>
      <MenuSeparator />
      <MenuItem
        icon={link.archived ? <ArchiveRestore size={15} /> : <Archive size={15} />}
        onSelect={() => acts.archive(link)}
      >
        {link.archived ? 'Bring back' : 'Archive'} <Key>a</Key>
      </MenuItem>
      <MenuItem danger icon={<Trash2 size={15} />} onSelect={() => acts.remove(link)}>
        Delete <Key>#</Key>
      </MenuItem>
    </>
  )
}

const Key = ({ children }: { children: string }) => (
  <kbd aria-hidden className="ml-auto pl-4 text-xs text-soft">
    {children}
  </kbd>
)
