// The attribution of a submission: its touches in order, each with the reason why it counts.

import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Compass, Globe, type LucideIcon, Megaphone, MousePointerClick, Send } from 'lucide-react'
import type { ReactNode } from 'react'
import { linkQuery } from '../../../api/links.ts'
import { attributionQuery, type Submission, type TouchResource } from '../../../api/submissions.ts'
import { useApi, useCanEdit } from '../../../shell/use-workspace.ts'
import { Badge } from '../../../ui/badge.tsx'
import { Card } from '../../../ui/card.tsx'
import { formatPercent, formatTime, toReadableUrl } from '../../../ui/format.ts'
import { QueryState } from '../../../ui/query-state.tsx'
import { isSiteOnly, tellAttribution } from './attribution-story.ts'
import { PageUrl } from './page-url.tsx'

const ATTRIBUTION_BADGES = {
  measured: { badge: 'Measured', tone: 'good' },
  inferred: { badge: 'Inferred', tone: 'warn' },
  pending: { badge: 'Not decided yet', tone: 'neutral' },
  none: { badge: 'Not linked', tone: 'neutral' },
} as const

export function AttributionTimeline({ submission }: { submission: Submission }) {
  const api = useApi()
  const touches = useQuery(attributionQuery(api, submission))
  const state = ATTRIBUTION_BADGES[submission.attribution]
  return (
    <Card
      title={
        <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
          Attribution
          <Badge tone={state.tone}>{state.badge}</Badge>
        </span>
      }
    >
      <p className="mb-4 text-sm text-soft">
        <Story submission={submission} />
      </p>
      <QueryState query={touches} rows={2} className="h-16" />
      {touches.data && (
        <ol>
          {touches.data.map((touch, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the order of touches does not change
            <TouchItem key={at} touch={touch} />
          ))}
          <Step icon={Send} title="Submitted the form" at={submission.createdAt} isLast>
            {submission.pageUrl && <PageUrl url={submission.pageUrl} isSiteOnly={isSiteOnly(submission)} />}
          </Step>
        </ol>
      )}
    </Card>
  )
}

function Story({ submission }: { submission: Submission }) {
  const api = useApi()
  const canEdit = useCanEdit()
  const { attribution, sessionLinked, linkId } = submission
  const needsLink = attribution === 'inferred' && sessionLinked && linkId !== null
  const { data: link } = useQuery({ ...linkQuery(api, linkId ?? 0), enabled: needsLink })
  const { sentence, offersSwitch } = tellAttribution(submission, link?.trackConversions)
  if (!offersSwitch || !link || !canEdit) return sentence
  return (
    <>
      {sentence}{' '}
      <Link
        to="/$workspaceId/links/$linkId"
        params={{ workspaceId: String(api.workspaceId), linkId: String(link.id) }}
        search={{ edit: '1' }}
        className="text-link"
      >
        Switch on “Track conversions”
      </Link>
    </>
  )
}

interface StepProps {
  icon: LucideIcon
  title: ReactNode
  at: string | null
  isLast?: boolean
  children?: ReactNode
}

const Step = ({ icon: Icon, title, at, isLast, children }: StepProps) => (
  <li className="relative grid grid-cols-[2rem_minmax(0,1fr)] gap-x-3">
    {!isLast && <span aria-hidden className="absolute top-8 bottom-0 left-4 w-px bg-strong" />}
    <span aria-hidden className="grid size-8 place-items-center rounded-full bg-tint text-accent">
      <Icon size={15} />
    </span>
    <div className={isLast ? 'pt-1' : 'pt-1 pb-5'}>
      <div className="flex flex-wrap items-baseline gap-x-3">
        <p className="min-w-0 font-medium break-words">{title}</p>
        {at && (
          <time dateTime={at} className="text-sm whitespace-nowrap text-soft">
            {formatTime(at)}
          </time>
        )}
      </div>
      {children}
    </div>
  </li>
)

const ICONS: Record<TouchResource['type'], LucideIcon> = {
  click: MousePointerClick,
  campaign: Megaphone,
  referrer: Globe,
  direct: Compass,
}

function TouchItem({ touch }: { touch: TouchResource }) {
  const utmValues = [touch.utmSource, touch.utmMedium, touch.utmCampaign, touch.utmTerm, touch.utmContent]
  const campaign = utmValues.filter(Boolean).join(' / ')
  return (
    <Step icon={ICONS[touch.type]} title={<TouchTitle touch={touch} campaign={campaign} />} at={touch.at}>
      <div className="mt-1 grid gap-1 text-sm text-soft">
        {touch.type !== 'campaign' && campaign && <p className="break-words">Campaign: {campaign}</p>}
        {touch.type !== 'referrer' && touch.referrer && <p className="break-words">From {touch.referrer}</p>}
        {touch.landingUrl && <PageUrl url={touch.landingUrl} />}
        <p title={touch.why}>{toCreditLine(touch)}</p>
      </div>
    </Step>
  )
}

/** The place of a touch and its part of the lead, in one line. The reason is one hover away. */
function toCreditLine({ isFirst, isLast, linearCredit }: TouchResource): string {
  const part = formatPercent(linearCredit)
  if (linearCredit === 0) return 'No credit'
  if (isFirst && isLast) return 'Only touch · all of the credit'
  if (isFirst) return `First touch · ${part} of linear credit`
  return isLast ? `Last touch · ${part} of linear credit` : `${part} of linear credit`
}

function TouchTitle({ touch, campaign }: { touch: TouchResource; campaign: string }) {
  const workspaceId = String(useApi().workspaceId)
  if (touch.type === 'click' && touch.linkId !== null)
    return (
      <>
        Clicked{' '}
        <Link
          to="/$workspaceId/links/$linkId"
          params={{ workspaceId, linkId: String(touch.linkId) }}
          search={{}}
          className="text-link"
        >
          {touch.shortUrl ? toReadableUrl(touch.shortUrl) : `link ${touch.linkId}`}
        </Link>
      </>
    )
  if (touch.type === 'click') return 'Clicked a link'
  if (touch.type === 'campaign') return campaign ? `Campaign ${campaign}` : 'A campaign'
  if (touch.type === 'referrer') return touch.referrer ? `Came from ${touch.referrer}` : 'Came from a page'
  return 'Direct visit'
}
