// What brought a submission, in the order in which it happened, why each counts, and what part of the lead it gets.

import type { Selectable } from 'kysely'
import { iso } from '../../lib/wire.ts'
import type { Touches } from '../../storage/rows/tables.ts'
import type { Actor } from '../accounts/actor.ts'
import { campaignOf } from '../attribution/touch.ts'
import { findSubmission } from './find-submission.ts'
import type { Touch } from './schema.ts'
import type { SubmissionNeeds, SubmissionRow } from './submission.ts'

const CLICK = {
  measured:
    'The visitor clicked this link, and the tracking snippet on the page carried the click to the form.',
  inferred:
    'The same visitor (address, browser and day) clicked this link in the 30 minutes before sending the form.',
}
const SEEN: Record<string, string> = {
  campaign: 'The address of the page named this campaign.',
  referrer: 'The browser came to the page from this site.',
  direct: 'The browser came to the page from nowhere it would name: no link of yours, no campaign, no site.',
}
const SENT = {
  campaign: "The address of the form's page named this campaign.",
  referrer: 'The browser named this page when it sent the form.',
}

type TouchRow = Selectable<Touches>
type Needs = SubmissionNeeds & { origin: string }

/** @throws Failure `not_found` */
export async function findTouches(needs: Needs, actor: Actor, id: number): Promise<Touch[]> {
  const submission = await findSubmission(needs, actor, id)
  const rows = await needs.rows.read
    .selectFrom('touches')
    .selectAll()
    .where('workspace_id', '=', actor.workspaceId)
    .where('submission_id', '=', submission.id)
    .orderBy('position')
    .execute()
  const linkIds = [submission.link_id, ...rows.map((row) => row.link_id)].filter((one) => one !== null)
  const links = await namesOf(needs, actor, linkIds)
  if (rows.length === 0) return withoutRows(submission, links)
  const seen = rows.map((row) => ofRow(row, submission, links))
  // Where the visit is not known, the page itself says something too.
  return submission.session_linked === 1 ? seen : [...seen, ...pageOf(submission)]
}

type Names = Map<number, Pick<Touch, 'slug' | 'shortUrl'>>

/** A deleted link keeps its name. */
async function namesOf({ rows, origin }: Needs, actor: Actor, ids: number[]): Promise<Names> {
  if (ids.length === 0) return new Map()
  const found = await rows.read
    .selectFrom('links')
    .select(['id', 'slug', 'domain'])
    .where('workspace_id', '=', actor.workspaceId)
    .where('id', 'in', ids)
    .execute()
  return new Map(
    found.map(({ id, slug, domain }) => {
      const base = domain === '' ? origin : `https://${domain}`
      return [id, { slug, shortUrl: `${base}/${encodeURIComponent(slug)}` }]
    }),
  )
}

const NOTHING: Omit<Touch, 'type' | 'why'> = {
  at: null,
  isFirst: false,
  isLast: false,
  linearCredit: 0,
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
const ALL = { isFirst: true, isLast: true, linearCredit: 1 }

function ofRow(row: TouchRow, { attribution }: SubmissionRow, links: Names): Touch {
  const { position, touches, link_id: linkId } = row
  const why =
    row.kind === 'click' ? CLICK[attribution === 'measured' ? 'measured' : 'inferred'] : SEEN[row.kind]
  return {
    ...NOTHING,
    type: row.kind as Touch['type'],
    why: `${why} ${creditOf(position, touches)}`,
    at: iso(row.at),
    isFirst: position === 0,
    isLast: position === touches - 1,
    linearCredit: 1 / touches,
    linkId,
    ...(linkId === null ? undefined : links.get(linkId)),
    clickId: row.click_id,
    referrer: row.referrer,
    landingUrl: row.landing_url,
    ...campaignOf(row),
  }
}

function creditOf(position: number, touches: number): string {
  if (touches === 1) return 'Nothing else did: it gets the whole lead.'
  const part = `as one of ${touches} it gets a part of it where all get the same`
  if (position === 0) return `It was the first: it gets the lead where the first touch counts, and ${part}.`
  if (position === touches - 1) {
    return `It was the last: it gets the lead where the last touch counts, and ${part}.`
  }
  return `It was neither the first nor the last: ${part}.`
}

/** Of one that came without a visit, and of one that is older than touches: all of it is one touch. */
function withoutRows(submission: SubmissionRow, links: Names): Touch[] {
  const { link_id: linkId, click_id: clickId, attribution } = submission
  const why = attribution === 'measured' ? CLICK.measured : CLICK.inferred
  const click: Touch[] =
    linkId === null ? [] : [{ ...NOTHING, type: 'click', why, linkId, ...links.get(linkId), clickId }]
  return [...click, ...pageOf(submission)].map((touch, index) => (index === 0 ? { ...touch, ...ALL } : touch))
}

function pageOf(row: SubmissionRow): Touch[] {
  const page = { referrer: row.referrer, pageUrl: row.page_url, landingUrl: row.landing_url }
  const campaign = campaignOf(row)
  const has = (part: object) => Object.values(part).some((value) => value !== null)
  return [
    ...(has(campaign)
      ? [{ ...NOTHING, ...page, ...campaign, type: 'campaign' as const, why: SENT.campaign }]
      : []),
    ...(has(page) ? [{ ...NOTHING, ...page, type: 'referrer' as const, why: SENT.referrer }] : []),
  ]
}
