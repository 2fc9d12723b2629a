// One link in the list. Its height is fixed (link-list.tsx), so that the list knows the position of rows that are not
// drawn.

import { QrCode } from 'lucide-react'
import { memo } from 'react'
import type { LinkResource } from '../../../../server/features/links/schema.ts'
import { IconButton } from '../../../ui/button.tsx'
import { classNames } from '../../../ui/class-names.ts'
import { CopyButton } from '../../../ui/copy/copy-button.tsx'
import { Favicon } from '../../../ui/favicon.tsx'
import { formatNumber, formatShort, toReadableUrl } from '../../../ui/format.ts'
import { Checkbox } from '../../../ui/forms/field.tsx'
import { RelativeTime } from '../../../ui/relative-time.tsx'
import { isForBrowser, toRowClicks } from '../../../ui/row-click.ts'
import { TagChip, TagDot } from '../../../ui/tag-chip.tsx'
import { LinkMenuButton } from '../link/link-menu-button.tsx'
import { toLinkName } from '../link/link-name.ts'
import { LinkBadges } from '../link/link-state.tsx'
import type { LinkHandlers } from '../link/use-link-actions.ts'
import { Sparkline } from './sparkline.tsx'

export interface LinkListItemHandlers extends LinkHandlers {
  select: (id: number, withShift: boolean) => void
  open: (link: LinkResource) => void
  /** Opens the analytics of the link's clicks. */
  openClicks: (link: LinkResource) => void
  openMenu: (link: LinkResource, button: HTMLElement) => void
}

interface Props {
  link: LinkResource
  workspaceId: string
  /** By day; undefined until it is loaded. */
  clicks: number[] | undefined
  icon: string | undefined
  selected: boolean
  canSelect: boolean
  handlers: LinkListItemHandlers
}

/** The id of a row's link, which the shortcuts j and k focus. */
export const toLinkElementId = (id: number) => `link-${id}`

export const LinkListItem = memo(function LinkListItem({
  link,
  workspaceId,
  clicks,
  icon,
  selected,
  canSelect,
  handlers,
}: Props) {
  const href = `/app/${workspaceId}/links/${link.id}`
  return (
    <div
      {...toRowClicks(href, () => handlers.open(link))}
      className={classNames(
        'grid h-full cursor-pointer grid-cols-[auto_minmax(0,1fr)_auto_auto] items-center gap-x-3 px-3 sm:px-4',
        'lg:grid-cols-[auto_minmax(0,1fr)_minmax(0,14rem)_5.5rem_7rem_auto]',
        'xl:grid-cols-[auto_minmax(0,1fr)_minmax(0,13rem)_auto_5.5rem_7rem_auto]',
        selected ? 'bg-tint' : 'hover:bg-hover focus-within:bg-hover',
      )}
    >
      {/* A click beside the box selects too: it must not open the link. */}
      {/* biome-ignore lint/a11y/noLabelWithoutControl: the box has a name of its own */}
      <label
        className={classNames(
          '-mr-3 -ml-3 flex h-full items-center px-3 sm:-ml-4 sm:pl-4',
          !canSelect && 'invisible',
        )}
      >
        <Checkbox
          aria-label={`Select ${toLinkName(link)}`}
          checked={selected}
          onChange={(event) => handlers.select(link.id, (event.nativeEvent as MouseEvent).shiftKey)}
        />
      </label>
      <div className="min-w-0">
        <Name {...{ link, icon, href, handlers }} />
        <Description link={link} />
      </div>
      <Tags link={link} />
      <Sparkline clicks={clicks} />
      <Numbers link={link} workspaceId={workspaceId} open={handlers.openClicks} />
      <span className="grid text-sm whitespace-nowrap max-lg:hidden">
        <span className="text-xs text-soft">Created</span>
        <RelativeTime at={link.createdAt} />
      </span>
      <LinkMenuButton link={link} onOpen={(button) => handlers.openMenu(link, button)} />
    </div>
  )
})

interface NameProps extends Pick<Props, 'link' | 'icon' | 'handlers'> {
  href: string
}

const Name = ({ link, icon, href, handlers }: NameProps) => (
  <div className="flex min-w-0 items-center gap-1">
    <span className="mr-1 max-sm:hidden">
      <Favicon name={toReadableUrl(link.destinationUrl)} icon={icon} />
    </span>
    {/* Not the router's Link: each of a hundred Links would react to every change of the address. */}
    <a
      id={toLinkElementId(link.id)}
      href={href}
      className="min-w-0 truncate rounded font-medium"
      onClick={(event) => {
        if (isForBrowser(event)) return
        event.preventDefault()
        handlers.open(link)
      }}
    >
      <span className="text-soft max-sm:hidden">{link.domain}/</span>
      <span className="text-soft sm:hidden">/</span>
      {link.slug}
    </a>
    <CopyButton text={link.shortUrl} label={`Copy ${link.domain}/${link.slug}`} />
    <IconButton
      label={`QR code of ${link.domain}/${link.slug}`}
      className="size-7! max-sm:hidden"
      onClick={() => handlers.showQr(link)}
    >
      <QrCode size={15} />
    </IconButton>
    <LinkBadges link={link} />
  </div>
)

/** Title and destination, and on a phone the domain, where it is the workspace's own, and the tags. */
const Description = ({ link }: { link: LinkResource }) => (
  <>
    <p className="flex min-w-0 gap-1.5 text-sm text-soft">
      {link.title && <span className="truncate text-ink sm:max-w-[60%] sm:shrink-0">{link.title}</span>}
      <span className={classNames('truncate', link.title !== null && 'max-sm:hidden')}>
        {toReadableUrl(link.destinationUrl)}
      </span>
    </p>
    <p className="mt-0.5 flex items-center gap-2 text-xs text-soft sm:hidden">
      {link.domain !== location.host && <span className="max-w-[60%] shrink-0 truncate">{link.domain}</span>}
      {link.tags.slice(0, 3).map((tag) => (
        <span key={tag.id} className="flex min-w-0 items-center gap-1">
          <TagDot color={tag.color} />
          <span className="truncate">{tag.name}</span>
        </span>
      ))}
      {link.tags.length === 0 && <RelativeTime at={link.createdAt} />}
    </p>
  </>
)

const TAGS_MAX = 2

function Tags({ link: { tags } }: { link: LinkResource }) {
  const more = tags.length - TAGS_MAX
  return (
    <span className="flex min-w-0 items-center justify-end gap-1 max-lg:hidden">
      {tags.slice(0, TAGS_MAX).map((tag) => (
        <TagChip key={tag.id} tag={tag} />
      ))}
      {more > 0 && (
        <span
          className="shrink-0 text-xs text-soft"
          title={tags
            .slice(TAGS_MAX)
            .map(({ name }) => name)
            .join(', ')}
        >
          +{more}
        </span>
      )}
    </span>
  )
}

interface NumbersProps {
  link: LinkResource
  workspaceId: string
  open: LinkListItemHandlers['openClicks']
}

const Numbers = ({ link, workspaceId, open }: NumbersProps) => (
  <span className="grid justify-items-end text-sm whitespace-nowrap">
    <a
      href={`/app/${workspaceId}/analytics?linkId=${link.id}&interval=all`}
      title={`${formatNumber(link.clicks)}: show analytics`}
      className="rounded underline-offset-2 hover:underline"
      onClick={(event) => {
        if (isForBrowser(event)) return
        event.preventDefault()
        open(link)
      }}
    >
      <strong className="font-semibold tabular-nums">{formatShort(link.clicks)}</strong>{' '}
      <span className="text-soft">{link.clicks === 1 ? 'click' : 'clicks'}</span>
    </a>
    <span
      title={formatNumber(link.leads)}
      className={classNames('text-xs', link.leads > 0 ? 'text-accent' : 'text-soft')}
    >
      <span className="tabular-nums">{formatShort(link.leads)}</span> {link.leads === 1 ? 'lead' : 'leads'}
    </span>
  </span>
)
