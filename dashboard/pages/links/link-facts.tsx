// What is set for a link, and who is sent where because of it.

import { Link } from '@tanstack/react-router'
import { lazy, type ReactNode, Suspense, useState } from 'react'
import type { LinkResource } from '../../../server/features/links/schema.ts'
import { useWorkspace } from '../../shell/workspace.ts'
import { TagChip } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { formatNumber, formatTime } from '../../ui/format.ts'
import { Card } from '../../ui/page.tsx'
import { Skeleton } from '../../ui/states.tsx'
import { Ago } from '../../ui/time.tsx'
import { stateOf } from './state.tsx'

const Resolve = lazy(() => import('./resolve.tsx').then(({ Resolve }) => ({ default: Resolve })))

export function LinkFacts({ link }: { link: LinkResource }) {
  const [testing, test] = useState(false)
  const state = stateOf(link)
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
        <Fact name="State">{state ? `${state.word}: ${lower(state.why)}` : 'Active'}</Fact>
        <Fact name="Clicks ever">{limited(link.clicks, link.clickLimit)}</Fact>
        <Fact name="Leads ever">{limited(link.leads, link.leadLimit)}</Fact>
        <Fact name="Last click">{link.lastClickedAt ? <Ago at={link.lastClickedAt} /> : 'None yet'}</Fact>
        <Fact name="Made">
          <Ago at={link.createdAt} />
        </Fact>
        {link.startsAt && <Fact name="Answers from">{formatTime(link.startsAt)}</Fact>}
        {link.expiresAt && <Fact name="Answers until">{formatTime(link.expiresAt)}</Fact>}
        {link.externalId && <Fact name="External id">{link.externalId}</Fact>}
        {link.tags.length > 0 && (
          <Fact name="Tags">
            <Tags tags={link.tags} />
          </Fact>
        )}
      </dl>
      {link.comments && (
        <p className="mt-4 border-t border-line pt-4 break-words whitespace-pre-wrap">{link.comments}</p>
      )}
      {testing && (
        <div className="mt-4 border-t border-line pt-4">
          <Suspense fallback={<Skeleton className="h-24" />}>
            <Resolve link={link} />
          </Suspense>
        </div>
      )}
    </Card>
  )
}

const lower = (text: string) => text.charAt(0).toLowerCase() + text.slice(1)
const limited = (n: number, limit: number | null) =>
  limit === null ? formatNumber(n) : `${formatNumber(n)} of ${formatNumber(limit)}`

const Fact = ({ name, children }: { name: string; children: ReactNode }) => (
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
