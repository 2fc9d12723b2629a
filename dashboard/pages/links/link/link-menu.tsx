// The menu with all actions for one link.

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
import { useCanEdit } from '../../../shell/use-workspace.ts'
import { MenuItem, MenuSeparator } from '../../../ui/overlays/menu.tsx'
import { toLinkName } from './link-name.ts'
import { copyLink, type LinkHandlers } from './use-link-actions.ts'

interface Props {
  link: LinkResource
  /** The button that opened the menu. */
  anchor: HTMLElement
  /** The address of the link's page; null on that page itself. */
  params: { workspaceId: string; linkId: string } | null
  handlers: LinkHandlers
  onClose: () => void
}

/** The whole list shares one menu: a menu in each row would be most of the cost of drawing the row. */
export function LinkMenu({ link, anchor, params, handlers, onClose }: Props) {
  const [open, setOpen] = useState(true)
  return (
    <Menu.Root
      modal={false}
      open={open}
      onOpenChange={(next) => next || setOpen(false)}
      onOpenChangeComplete={(isOpen) => isOpen || onClose()}
    >
      <Menu.Portal>
        <Menu.Positioner className="z-50" anchor={anchor} sideOffset={4} align="end">
          <Menu.Popup
            aria-label={`More for ${toLinkName(link)}`}
            finalFocus={() => anchor}
            className="appear min-w-44 rounded-xl border border-line bg-card p-1 shadow-lg outline-none"
          >
            <Items link={link} params={params} handlers={handlers} />
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  )
}

function Items({ link, params, handlers }: Pick<Props, 'link' | 'params' | 'handlers'>) {
  const canEdit = useCanEdit()
  return (
    <>
      <MenuItem icon={<Copy size={15} />} onSelect={() => void copyLink(link)}>
        Copy <Key>c</Key>
      </MenuItem>
      {canEdit && (
        <MenuItem icon={<Pencil size={15} />} onSelect={() => handlers.edit(link)}>
          Edit <Key>e</Key>
        </MenuItem>
      )}
      <MenuItem icon={<QrCode size={15} />} onSelect={() => handlers.showQr(link)}>
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
      {canEdit && <Changes link={link} handlers={handlers} />}
    </>
  )
}

function Changes({ link, handlers }: Pick<Props, 'link' | 'handlers'>) {
  return (
    <>
      <MenuItem icon={<CopyPlus size={15} />} onSelect={() => handlers.duplicate(link)}>
        Duplicate
      </MenuItem>
      <MenuSeparator />
      <MenuItem
        icon={link.archived ? <ArchiveRestore size={15} /> : <Archive size={15} />}
        onSelect={() => handlers.archive(link)}
      >
        {link.archived ? 'Unarchive' : 'Archive'} <Key>a</Key>
      </MenuItem>
      <MenuItem danger icon={<Trash2 size={15} />} onSelect={() => handlers.remove(link)}>
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
