// One destination: its state, what the last check found, its links, and the button that repairs them.

import { Link } from '@tanstack/react-router'
import { Wrench } from 'lucide-react'
import type { ComponentProps } from 'react'
import type { DestinationResource, DestinationState } from '../../../api/destinations.ts'
import { useCanEdit } from '../../../shell/use-workspace.ts'
import { Badge } from '../../../ui/badge.tsx'
import { Button } from '../../../ui/button.tsx'
import { formatCount, toReadableUrl } from '../../../ui/format.ts'
import { RelativeTime } from '../../../ui/relative-time.tsx'

const STATES: Record<DestinationState, [label: string, tone: ComponentProps<typeof Badge>['tone']]> = {
  broken: ['Broken', 'bad'],
  parked: ['Parked', 'bad'],
  failing: ['Failing', 'warn'],
  not_allowed: ['Not checked', 'neutral'],
  unchecked: ['Waiting', 'neutral'],
  ok: ['OK', 'good'],
}

/** The search of the list of links takes no longer text. */
const SEARCH_MAX = 200

/** The id of the element of a row that can have the focus. */
export const toDestinationElementId = ({ url }: Pick<DestinationResource, 'url'>) => `destination-${url}`

interface Props {
  destination: DestinationResource
  repair: () => void
}

export function DestinationRow({ destination, repair }: Props) {
  const { url, state, message, checkedAt, since, links } = destination
  const canEdit = useCanEdit()
  const [label, tone] = STATES[state]
  const isProblem = tone === 'bad' || tone === 'warn'
  const name = toReadableUrl(url)
  return (
    <li
      id={toDestinationElementId(destination)}
      tabIndex={-1}
      aria-label={name}
      className="flex flex-wrap items-center gap-x-4 gap-y-2 border-b border-line px-4 py-3 last:border-b-0 focus-visible:-outline-offset-2"
    >
      <div className="min-w-0 flex-1 basis-60">
        <p className="flex min-w-0 items-center gap-2">
          <Badge tone={tone}>{label}</Badge>
          <a
            href={url}
            target="_blank"
            rel="noreferrer"
            title={url}
            className="min-w-0 truncate font-medium hover:underline"
          >
            {name}
          </a>
        </p>
        {message !== null && <p className="mt-0.5 text-sm break-words text-soft">{message}</p>}
      </div>
      <p className="text-sm whitespace-nowrap sm:text-right">
        <Link
          from="/$workspaceId/links/destinations"
          to="/$workspaceId/links"
          search={{ search: url.slice(0, SEARCH_MAX) }}
          className="block tabular-nums text-link"
        >
          {formatCount(links, 'link')}
        </Link>
        <span className="text-soft">
          {isProblem && since !== null ? (
            <>
              Since <RelativeTime at={since} />
            </>
          ) : (
            checkedAt !== null && (
              <>
                Checked <RelativeTime at={checkedAt} />
              </>
            )
          )}
        </span>
      </p>
      {canEdit && isProblem && (
        <Button
          size="small"
          icon={<Wrench size={14} />}
          aria-label={`Repair all links to ${name}`}
          onClick={repair}
        >
          Repair all links
        </Button>
      )}
    </li>
  )
}
