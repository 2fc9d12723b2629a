// The settings of a link, and a tester for its targeting.

import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import type { LinkResource } from '../../../../server/features/links/schema.ts'
import { useWorkspace } from '../../../shell/use-workspace.ts'
import { Button } from '../../../ui/button.tsx'
import { Card } from '../../../ui/card.tsx'
import { classNames } from '../../../ui/class-names.ts'
import { formatNumber, formatTime, toReadableUrl } from '../../../ui/format.ts'
import { lazyPart } from '../../../ui/lazy-part.tsx'
import { RelativeTime } from '../../../ui/relative-time.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { TagChip } from '../../../ui/tag-chip.tsx'
import { lowerFirst } from '../../../ui/text.ts'
import { describeRule } from '../link/describe-rule.ts'
import { findLinkState } from '../link/link-state.tsx'

const RedirectTester = lazyPart(
  () => import('./redirect-tester.tsx'),
  'RedirectTester',
  <Skeleton className="h-24" />,
)

export function LinkDetails({ link }: { link: LinkResource }) {
  const [isTesting, setTesting] = useState(false)
  const state = findLinkState(link)
  return (
    <Card
      title="Details"
      actions={
        <Button size="small" variant="quiet" aria-expanded={isTesting} onClick={() => setTesting(!isTesting)}>
          Test targeting
        </Button>
      }
    >
      <dl className="grid grid-cols-2 gap-x-6 gap-y-4 sm:grid-cols-[repeat(auto-fit,minmax(9rem,1fr))]">
        <Detail name="Status">{state ? `${state.label}: ${lowerFirst(state.reason)}` : 'Active'}</Detail>
        <Detail name="Total clicks">
          <ClicksLink link={link} />
          {link.clicksBefore > 0 && (
            <span className="block text-sm text-soft">
              {formatNumber(link.clicksBefore)} of them before the move
            </span>
          )}
        </Detail>
        <Detail name="Total leads">{formatLimited(link.leads, link.leadLimit)}</Detail>
        <Detail name="Last click">
          {link.lastClickedAt ? <RelativeTime at={link.lastClickedAt} /> : 'No clicks yet'}
        </Detail>
        <Detail name="Created">
          <RelativeTime at={link.createdAt} />
        </Detail>
        {link.startsAt && <Detail name="Starts">{formatTime(link.startsAt)}</Detail>}
        {link.expiresAt && <Detail name="Expires">{formatTime(link.expiresAt)}</Detail>}
        {link.expiredUrl && (
          <Detail name="Redirect after expiry" wide>
            {toReadableUrl(link.expiredUrl)}
          </Detail>
        )}{' '}
        {hasCard(link) && <Detail name="Social card">{link.previewTitle ?? 'Its own'}</Detail>}
        {link.externalId && <Detail name="External ID">{link.externalId}</Detail>}
        {link.tags.length > 0 && (
          <Detail name="Tags">
            <Tags tags={link.tags} />
          </Detail>
        )}
      </dl>
      {link.rules.length > 0 && <Rules link={link} />}
      {link.comments && (
        <p className="mt-4 border-t border-line pt-4 break-words whitespace-pre-wrap">{link.comments}</p>
      )}
      {isTesting && (
        <div className="mt-4 border-t border-line pt-4">
          <RedirectTester link={link} />
        </div>
      )}
    </Card>
  )
}

const hasCard = ({ previewTitle, previewDescription, previewImage }: LinkResource) =>
  [previewTitle, previewDescription, previewImage].some((value) => value !== null)

function ClicksLink({ link }: { link: LinkResource }) {
  const { id } = useWorkspace()
  return (
    <Link
      to="/$workspaceId/analytics"
      params={{ workspaceId: String(id) }}
      search={{ linkId: String(link.id), interval: 'all' }}
      title="Show analytics"
      className="text-link"
    >
      {formatLimited(link.clicks, link.clickLimit)}
    </Link>
  )
}

const formatLimited = (n: number, limit: number | null) =>
  limit === null ? formatNumber(n) : `${formatNumber(n)} of ${formatNumber(limit)}`

const Detail = ({ name, wide, children }: { name: string; wide?: boolean; children: ReactNode }) => (
  <div className={classNames('min-w-0', wide && 'col-span-2')}>
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

/** The rules in their order, with what the server warns of. */
const Rules = ({ link: { rules, ruleWarnings } }: { link: LinkResource }) => (
  <section aria-label="Rules" className="mt-4 border-t border-line pt-4">
    <ol className="grid list-inside list-decimal gap-1.5">
      {rules.map(({ when, to }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a rule has no other name than its place.
        <li key={index} className="break-words">
          {describeRule(when)}: <span className="break-all text-soft">{to}</span>
          {ruleWarnings
            .filter(({ rule }) => rule === index)
            .map(({ message }) => (
              <p key={message} className="text-sm text-warn">
                {message}
              </p>
            ))}
        </li>
      ))}
    </ol>
  </section>
)
