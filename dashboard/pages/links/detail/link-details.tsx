// What is set for a link, and who is sent where because of it.

import { Link } from '@tanstack/react-router'
import { lazy, type ReactNode, Suspense, useState } from 'react'
import type { LinkResource } from '../../../../server/features/links/schema.ts'
import { useWorkspace } from '../../../shell/use-workspace.ts'
import { TagChip } from '../../../ui/badge.tsx'
import { Button } from '../../../ui/button.tsx'
import { formatNumber, formatTime } from '../../../ui/format.ts'
import { Card } from '../../../ui/page.tsx'
import { RelativeTime } from '../../../ui/relative-time.tsx'
import { Skeleton } from '../../../ui/states.tsx'
import { findLinkState } from '../link/link-state.tsx'

const RedirectTester = lazy(() =>
  import('./redirect-tester.tsx').then(({ RedirectTester }) => ({ default: RedirectTester })),
)

export function LinkDetails({ link }: { link: LinkResource }) {
  const [testing, test] = useState(false)
  const state = findLinkState(link)
  return (
    <Card
      title="This link"
      actions={
        <Button size="small" look="quiet" aria-expanded={testing} onClick={() => test(!testing)}>
          Who is sent where?
        </Button>
      }
    >
      <dl className="grid grid-cols-2 gap-x-6 gap-y-4 sm:grid-cols-[repeat(auto-fit,minmax(9rem,1fr))]">
        <Detail name="State">{state ? `${state.word}: ${lowerFirst(state.why)}` : 'Active'}</Detail>
        <Detail name="Clicks ever">{formatLimited(link.clicks, link.clickLimit)}</Detail>
        <Detail name="Leads ever">{formatLimited(link.leads, link.leadLimit)}</Detail>
        <Detail name="Last click">
          {link.lastClickedAt ? <RelativeTime at={link.lastClickedAt} /> : 'None yet'}
        </Detail>
        <Detail name="Made">
          <RelativeTime at={link.createdAt} />
        </Detail>
        {link.startsAt && <Detail name="Answers from">{formatTime(link.startsAt)}</Detail>}
        {link.expiresAt && <Detail name="Answers until">{formatTime(link.expiresAt)}</Detail>}
        {link.externalId && <Detail name="External id">{link.externalId}</Detail>}
        {link.tags.length > 0 && (
          <Detail name="Tags">
            <Tags tags={link.tags} />
          </Detail>
        )}
      </dl>
      {link.comments && (
        <p className="mt-4 border-t border-line pt-4 break-words whitespace-pre-wrap">{link.comments}</p>
      )}
      {testing && (
        <div className="mt-4 border-t border-line pt-4">
          <Suspense fallback={<Skeleton className="h-24" />}>
            <RedirectTester link={link} />
          </Suspense>
        </div>
      )}
    </Card>
  )
}

const lowerFirst = (text: string) => text.charAt(0).toLowerCase() + text.slice(1)
const formatLimited = (n: number, limit: number | null) =>
  limit === null ? formatNumber(n) : `${formatNumber(n)} of ${formatNumber(limit)}`

const Detail = ({ name, children }: { name: string; children: ReactNode }) => (
  <div className="min-w-0">
    <dt className="text-sm text-soft">{name}</dt>
    <dd className="break-words">{children}</dd>
  </div>
)

function Tags({ tags }: Pick<LinkResource, 'tags'>) {
  const { id } = useWorkspace()
  return (
    <span className="flex flex-wrap gap-1">
      {tags.map((tag) => (
        <Link
          key={tag.id}
          to="/$workspaceId/links"
          params={{ workspaceId: String(id) }}
          search={{ tagId: String(tag.id) }}
          className="rounded-md hover:bg-hover"
        >
          <TagChip tag={tag} />
        </Link>
      ))}
    </span>
  )
}
