// The details of a submission: location, device, source and ids.

import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Submission } from '../../../api/submissions.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { Card } from '../../../ui/card.tsx'
import { formatCountryName, formatExactly } from '../../../ui/format.ts'
import { TEXT_LINK } from '../../../ui/text-link.ts'
import { isSiteOnly } from './attribution-story.ts'
import { PageUrl } from './page-url.tsx'
import { PersonButtons } from './person-buttons.tsx'

export function SubmissionDetails({ submission }: { submission: Submission }) {
  const { country, region, city, browser, os, device } = submission
  const place = [city, region !== city ? region : null].filter(Boolean).join(', ')
  const rows: [string, ReactNode][] = [
    ['Country', country && formatCountryName(country)],
    ['City', place],
    ['Device', [device, os, browser].filter(Boolean).join(' · ')],
    ['Referrer', submission.referrer],
    ['Landing page', submission.landingUrl && <PageUrl url={submission.landingUrl} />],
    ['Page', submission.pageUrl && <PageUrl url={submission.pageUrl} isSiteOnly={isSiteOnly(submission)} />],
    ['UTM source', submission.utmSource],
    ['UTM medium', submission.utmMedium],
    ['UTM campaign', submission.utmCampaign],
    ['UTM term', submission.utmTerm],
    ['UTM content', submission.utmContent],
    ['Spam filter', submission.status !== 'spam' && submission.spamReasons.join(' ')],
    ['Received', formatExactly(submission.createdAt)],
    ['Visit', submission.sessionLinked ? 'Recorded by the snippet' : 'Not recorded'],
    ['Click ID', submission.clickId && <code className="break-all">{submission.clickId}</code>],
    ['Submission ID', <code key="id">{submission.id}</code>],
    ['Notifications', <NotificationsLink key="deliveries" id={submission.id} />],
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
          <PersonButtons email={submission.email} />
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
    View deliveries
  </Link>
)
