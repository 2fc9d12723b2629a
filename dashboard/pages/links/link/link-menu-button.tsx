// The button that opens a link's menu. The menu's code is loaded when it is first opened.

import { MoreHorizontal } from 'lucide-react'
import type { LinkResource } from '../../../../server/features/links/schema.ts'
import { IconButton } from '../../../ui/button.tsx'
import { toLinkName } from './link-name.ts'

/** @param onOpen gets the button, which the menu is attached to */
export const LinkMenuButton = ({
  link,
  onOpen,
}: {
  link: LinkResource
  onOpen: (button: HTMLElement) => void
}) => (
  <IconButton
    label={`More for ${toLinkName(link)}`}
    title="More"
    aria-haspopup="menu"
    onClick={(event) => onOpen(event.currentTarget)}
  >
    <MoreHorizontal size={17} />
  </IconButton>
)
