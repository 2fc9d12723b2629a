// What brought a submission, in the order in which it happened, and why each counts.

import type { Actor } from '../accounts/actor.ts'
import { findSubmission } from './find-submission.ts'
import type { Touch } from './schema.ts'
import type { SubmissionNeeds, SubmissionRow } from './submission.ts'

const CLICK = {
  measured:
    'The visitor clicked this link, and the tracking snippet on the page carried the click to the form.',
  inferred:
    'The same visitor (address, browser and day) clicked this link in the 30 minutes before sending the form.',
}
const REFERRER = 'The browser named this page when it sent the form.'
const CAMPAIGN = "The address of the form's page named this campaign."

const NOTHING: Omit<Touch, 'type' | 'why'> = {
  linkId: null,
  slug: null,
  shortUrl: null,
  clickId: null,
  referrer: null,
  pageUrl: null,
  landingUrl: null,
  utmSource: null,
  utmMedium: null,
  utmCampaign: null,
  utmTerm: null,
  utmContent: null,
}

/** @throws Failure `not_found` */
export async function findTouches(
  needs: SubmissionNeeds & { origin: string },
  actor: Actor,
  id: number,
): Promise<Touch[]> {
  const submission = await findSubmission(needs, actor, id)
  return [...(await clickOf(needs, actor, submission)), ...pageOf(submission)]
}

async function clickOf(
  { rows, origin }: SubmissionNeeds & { origin: string },
  actor: Actor,
  { link_id: linkId, click_id: clickId, attribution }: SubmissionRow,
): Promise<Touch[]> {
  if (linkId === null) return []
  // A deleted link keeps its name.
  const link = await rows.read
    .selectFrom('links')
    .select(['slug', 'domain'])
    .where('workspace_id', '=', actor.workspaceId)
    .where('id', '=', linkId)
    .executeTakeFirst()
  const base = link?.domain ? `https://${link.domain}` : origin
  return [
    {
      ...NOTHING,
      type: 'click',
      why: attribution === 'measured' ? CLICK.measured : CLICK.inferred,
      linkId,
      slug: link?.slug ?? null,
      shortUrl: link ? `${base}/${encodeURIComponent(link.slug)}` : null,
      clickId,
    },
  ]
}

function pageOf(row: SubmissionRow): Touch[] {
  const page = { referrer: row.referrer, pageUrl: row.page_url, landingUrl: row.landing_url }
  const campaign = {
    utmSource: row.utm_source,
    utmMedium: row.utm_medium,
    utmCampaign: row.utm_campaign,
    utmTerm: row.utm_term,
    utmContent: row.utm_content,
  }
  const has = (part: object) => Object.values(part).some((value) => value !== null)
  return [
    ...(has(campaign)
      ? [{ ...NOTHING, ...page, ...campaign, type: 'campaign' as const, why: CAMPAIGN }]
      : []),
    ...(has(page) ? [{ ...NOTHING, ...page, type: 'referrer' as const, why: REFERRER }] : []),
  ]
}
