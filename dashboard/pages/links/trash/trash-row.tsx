// One link in the trash: its destination, its time left, and the actions.

import { RotateCcw, Trash2 } from 'lucide-react'
import type { TrashedLinkResource } from '../../../../server/features/links/schema.ts'
import { useCanEdit } from '../../../shell/use-workspace.ts'
import { Button, IconButton } from '../../../ui/button.tsx'
import { formatCount, formatTime, toReadableUrl } from '../../../ui/format.ts'
import { toLinkName } from '../link/link-name.ts'
import { LinkBadges } from '../link/link-state.tsx'

const DAY_MS = 86_400_000

interface Props {
  link: TrashedLinkResource
  restore: () => void
  purge: () => void
}

/** The id of the element of a row that can have the focus. */
export const toTrashElementId = (id: number) => `trash-${id}`

export function TrashRow({ link, restore, purge }: Props) {
  const canEdit = useCanEdit()
  const daysLeft = Math.max(0, Math.ceil((Date.parse(link.purgesAt) - Date.now()) / DAY_MS))
  return (
    <li
      id={toTrashElementId(link.id)}
      tabIndex={-1}
      aria-label={toLinkName(link)}
      className="flex flex-wrap items-center gap-x-4 gap-y-2 border-b border-line px-4 py-3 last:border-b-0 focus-visible:-outline-offset-2"
    >
      <div className="min-w-0 flex-1 basis-60">
        <p className="flex min-w-0 items-center gap-2 font-medium">
          <span className="min-w-0 truncate">
            <span className="text-soft">{link.domain}/</span>
            {link.slug}
          </span>
          <LinkBadges link={link} />
        </p>
        <p className="truncate text-sm text-soft">
          {link.title && <span className="text-ink">{link.title} </span>}
          {toReadableUrl(link.destinationUrl)}
        </p>
      </div>
      <p className="text-sm whitespace-nowrap sm:text-right">
        <span className="block" title={`Deleted for good on ${formatTime(link.purgesAt)}`}>
          {formatCount(daysLeft, 'day')} left
        </span>
        <span className="text-soft" title={`Deleted on ${formatTime(link.deletedAt)}`}>
          {formatCount(link.clicks, 'click')}
        </span>
      </p>
      {canEdit && (
        <div className="flex items-center gap-1">
          <Button
            size="small"
            icon={<RotateCcw size={14} />}
            aria-label={`Restore ${toLinkName(link)}`}
            onClick={restore}
          >
            Restore
          </Button>
          <IconButton label={`Delete ${toLinkName(link)} for good`} title="Delete for good" onClick={purge}>
            <Trash2 size={15} />
          </IconButton>
        </div>
      )}
    </li>
  )
}
