// The three dots of a link. What is behind them is loaded when they are first pressed.

import { MoreHorizontal } from 'lucide-react'
import type { LinkResource } from '../../../../server/features/links/schema.ts'
import { IconButton } from '../../../ui/button.tsx'
import { toLinkName } from './link-state.tsx'

/** @param onOpen gets the button itself, which the menu hangs on */
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
