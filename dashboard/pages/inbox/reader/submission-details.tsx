// Everything else that is known of a submission.

import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Submission } from '../../../api/submissions.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { formatCountryName, formatExactly } from '../../../ui/format.ts'
import { Card } from '../../../ui/page.tsx'
import { TEXT_LINK } from '../../../ui/text-link.ts'
import { ErasePersonButton } from './action-bar.tsx'
import { PageUrl } from './attribution-timeline.tsx'

export function SubmissionDetails({ submission }: { submission: Submission }) {
  const { country, region, city, browser, os, device } = submission
  const place = [city, region !== city ? region : null].filter(Boolean).join(', ')
  const rows: [string, ReactNode][] = [
    ['Country', country && formatCountryName(country)],
    ['Place', place],
    ['Device', [device, os, browser].filter(Boolean).join(' · ')],
    ['Came from', submission.referrer],
    ['Landing page', submission.landingUrl && <PageUrl url={submission.landingUrl} />],
    ['Page', submission.pageUrl && <PageUrl url={submission.pageUrl} />],
    ['Source', submission.utmSource],
    ['Medium', submission.utmMedium],
    ['Campaign', submission.utmCampaign],
    ['Term', submission.utmTerm],
    ['Content', submission.utmContent],
    ['Received', formatExactly(submission.createdAt)],
    ['Visit', submission.sessionLinked ? 'Known by the snippet' : 'Not known'],
    ['Click id', submission.clickId && <code className="break-all">{submission.clickId}</code>],
    ['Number', <code key="id">{submission.id}</code>],
    ['Notifications', <NotificationsLink key="told" id={submission.id} />],
  ]
  return (
    <Card title="Details">
      <dl className="grid grid-cols-[7rem_minmax(0,1fr)] gap-x-4 gap-y-2 text-sm">
        {rows.map(
          ([name, value]) =>
            value && (
              <div key={name} className="col-span-2 grid grid-cols-subgrid">
                <dt className="text-soft">{name}</dt>
                <dd className="min-w-0 break-words">{value}</dd>
              </div>
            ),
        )}
      </dl>
      {submission.email && (
        <div className="mt-4 border-t border-line pt-3">
          <ErasePersonButton email={submission.email} />
        </div>
      )}
    </Card>
  )
}

const NotificationsLink = ({ id }: { id: number }) => (
  <Link
    to="/$workspaceId/deliveries"
    params={{ workspaceId: String(useApi().workspaceId) }}
    search={{ submissionId: String(id) }}
    className={TEXT_LINK}
  >
    Who was told of it
  </Link>
)
