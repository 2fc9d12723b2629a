// One unknown slug: how often it was asked for, the closest slug, and the actions. Strangers write the slugs.

import { Link } from '@tanstack/react-router'
import { CornerUpRight, Plus } from 'lucide-react'
import { type ReactNode, useEffect, useRef } from 'react'
import type { MissingSlug } from '../../../api/missing.ts'
import { useCanEdit } from '../../../shell/use-workspace.ts'
import { Badge } from '../../../ui/badge.tsx'
import { Button } from '../../../ui/button.tsx'
import { focusIfLost } from '../../../ui/focus.ts'
import { formatCount } from '../../../ui/format.ts'
import { RelativeTime } from '../../../ui/relative-time.tsx'
import { toVisibleText } from '../../../ui/visible-text.ts'

interface Props {
  missing: MissingSlug
  create: () => void
  redirect: () => void
}

/** The id of the element of a row that can have the focus. */
export const toMissingElementId = ({ domain, slug }: Pick<MissingSlug, 'domain' | 'slug'>) =>
  `missing-${domain}/${slug}`

export function MissingRow({ missing, create, redirect }: Props) {
  const { domain, slug, hits, visitors, lastAt } = missing
  const canEdit = useCanEdit()
  const exists = missing.linkId !== null
  const existed = useRef(exists)
  useEffect(() => {
    // The button that had the focus is gone.
    if (exists && !existed.current) focusIfLost(() => document.getElementById(toMissingElementId(missing)))
    existed.current = exists
  })
  const name = `${domain}/${toVisibleText(slug)}`
  return (
    <li
      id={toMissingElementId(missing)}
      tabIndex={-1}
      aria-label={name}
      className="flex flex-wrap items-center gap-x-4 gap-y-2 border-b border-line px-4 py-3 last:border-b-0 focus-visible:-outline-offset-2"
    >
      <div className="min-w-0 flex-1 basis-60">
        <p className="truncate font-medium" title={name}>
          <span className="text-soft">{domain}/</span>
          <bdi>{toVisibleText(slug)}</bdi>
        </p>
        <p className="truncate text-sm text-soft">
          <Closest missing={missing} />
        </p>
      </div>
      <p className="text-sm whitespace-nowrap sm:text-right">
        <span className="block tabular-nums" title={`By ${formatCount(visitors, 'visitor')}`}>
          {formatCount(hits, 'time')}
        </span>
        <span className="text-soft">
          <RelativeTime at={lastAt} />
        </span>
      </p>
      {canEdit && !exists && (
        <div className="flex flex-wrap items-center gap-1">
          <Button size="small" icon={<Plus size={14} />} aria-label={`Create link ${name}`} onClick={create}>
            Create link
          </Button>
          <Button
            size="small"
            icon={<CornerUpRight size={14} />}
            aria-label={`Redirect to … ${name}`}
            onClick={redirect}
          >
            Redirect to …
          </Button>
        </div>
      )}
    </li>
  )
}

function Closest({ missing: { linkId, closest, closestLinkId } }: { missing: MissingSlug }) {
  if (linkId !== null)
    return (
      <>
        <Badge tone="good">Exists now</Badge> <LinkTo id={linkId}>Open the link</LinkTo>
      </>
    )
  if (closest === null || closestLinkId === null) return 'No similar link'
  return (
    <>
      Similar: <LinkTo id={closestLinkId}>/{toVisibleText(closest)}</LinkTo>
    </>
  )
}

const LinkTo = ({ id, children }: { id: number; children: ReactNode }) => (
  <Link
    from="/$workspaceId/links/missing"
    to="/$workspaceId/links/$linkId"
    params={{ linkId: String(id) }}
    search={{}}
    className="text-link"
  >
    {children}
  </Link>
)
