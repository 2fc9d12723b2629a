// The attribution report of a submission: its touches in order, the reason for each, and its part of the credit.

import type { Selectable } from 'kysely'
import { toIso } from '../../../lib/iso-time.ts'
import { toShortUrl } from '../../../lib/web-url.ts'
import type { Connection } from '../../../storage/database/open-database.ts'
import { isOneOf, prepareQuery } from '../../../storage/database/prepare-query.ts'
import type { Touches } from '../../../storage/database/tables/form-tables.ts'
import type { Actor } from '../../accounts/access/actor.ts'
import { type Campaign, hasCampaign } from '../../visitors/campaign.ts'
import { toCampaign } from '../../visitors/campaign-columns.ts'
import { getSubmission } from './get-submission.ts'
import type { TouchResource } from './schema.ts'
import type { SubmissionNeeds, SubmissionRow } from './submission.ts'

const CLICK_REASONS = {
  snippet:
    'The visitor clicked this link, and the tracking snippet on the page carried the click to the form.',
  page: "The visitor clicked this link, and the address of the form's page named the click.",
  inferred:
    'The same visitor (address, browser and day) clicked this link in the 30 minutes before sending the form.',
}
const VISIT_REASONS: Record<string, string> = {
  campaign: 'The address of the page named this campaign.',
  referrer: 'The browser came to the page from this site.',
  direct: 'The page named no link of this workspace, no campaign and no other site.',
}
/** Replaces the touch's part of the lead, because a click that is found later changes the parts. */
const PENDING = 'Attribution is pending: analytics are catching up.'
const PAGE_CAMPAIGN = "The address of the form's page named this campaign."

type TouchRow = Selectable<Touches>
type Needs = SubmissionNeeds & { origin: string }

/** @throws Failure `not_found` */
export async function getAttributionReport(needs: Needs, actor: Actor, id: number): Promise<TouchResource[]> {
  const submission = await getSubmission(needs, actor, id)
  return (await readTouches(needs, actor, [submission])).get(submission.id) ?? []
}

const selectTouches = prepareQuery(
  (connection, { workspaceId, ids }: { workspaceId: number; ids: number[] }) =>
    connection
      .selectFrom('touches')
      .selectAll()
      .where('workspace_id', '=', workspaceId)
      .where(isOneOf(connection, 'submission_id', ids))
      .orderBy('position'),
)

/** @returns the touches of each submission, in order */
export async function readTouches(
  { db, origin }: Pick<Needs, 'db' | 'origin'>,
  { workspaceId }: Pick<Actor, 'workspaceId'>,
  submissions: SubmissionRow[],
): Promise<Map<number, TouchResource[]>> {
  if (submissions.length === 0) return new Map()
  const rows = await selectTouches(db.read, { workspaceId, ids: submissions.map(({ id }) => id) })
  const linkIds = [...submissions, ...rows].flatMap((row) => row.link_id ?? [])
  const links = await findLinkNames(db.read, { workspaceId, origin }, [...new Set(linkIds)])
  return new Map(
    submissions.map((submission) => [
      submission.id,
      toTouches(
        submission,
        rows.filter((row) => row.submission_id === submission.id),
        links,
      ),
    ]),
  )
}

function toTouches(submission: SubmissionRow, rows: TouchRow[], links: LinkNames): TouchResource[] {
  if (rows.length === 0) return toTouchesWithoutVisit(submission, links)
  const touches = rows.map((row) => toTouchResource(row, submission, links))
  // Without a visit, the page of the form may have named another campaign than the click has.
  const isKnown = touches.some((touch) => hasSameCampaign(touch, toCampaign(submission)))
  return submission.session_linked === 1 || isKnown ? touches : [...touches, ...toPageTouches(submission)]
}

interface LinkName {
  slug: string
  shortUrl: string
}

/**
 * The slugs and short URLs of the links that brought submissions.
 * @returns names by link id. A deleted link keeps its name.
 */
async function findLinkNames(
  connection: Connection,
  { workspaceId, origin }: { workspaceId: number; origin: string },
  ids: number[],
): Promise<Map<number, LinkName>> {
  if (ids.length === 0) return new Map()
  const links = await connection
    .selectFrom('links')
    .select(['id', 'slug', 'domain'])
    .where('workspace_id', '=', workspaceId)
    .where('id', 'in', ids)
    .execute()
  return new Map(
    links.map(({ id, slug, domain }) => [id, { slug, shortUrl: toShortUrl({ origin }, { domain, slug }) }]),
  )
}

type LinkNames = Awaited<ReturnType<typeof findLinkNames>>

const EMPTY_TOUCH: Omit<TouchResource, 'type' | 'why'> = {
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
const WHOLE_CREDIT = { isFirst: true, isLast: true, linearCredit: 1 }

function toTouchResource(row: TouchRow, submission: SubmissionRow, links: LinkNames): TouchResource {
  const { position, touches, link_id: linkId } = row
  const why = row.kind === 'click' ? toClickReason(submission) : VISIT_REASONS[row.kind]
  return {
    ...EMPTY_TOUCH,
    type: row.kind as TouchResource['type'],
    why: `${why} ${submission.attribution_due === 1 ? PENDING : describeCredit(position, touches)}`,
    at: toIso(row.at),
    isFirst: position === 0,
    isLast: position === touches - 1,
    linearCredit: 1 / touches,
    linkId,
    ...(linkId === null ? undefined : links.get(linkId)),
    clickId: row.click_id,
    referrer: row.referrer,
    landingUrl: row.landing_url,
    ...toCampaign(row),
  }
}

function toClickReason({ attribution, session_linked: isLinked }: SubmissionRow): string {
  if (attribution !== 'measured') return CLICK_REASONS.inferred
  return isLinked === 1 ? CLICK_REASONS.snippet : CLICK_REASONS.page
}

function describeCredit(position: number, touches: number): string {
  if (touches === 1) return 'Only touch · 100 % of the credit'
  const linear = `${Math.round(100 / touches)} % of linear credit`
  if (position === 0) return `First touch · ${linear}`
  return position === touches - 1 ? `Last touch · ${linear}` : linear
}

/**
 * For a submission without stored touches: it came without a visit, or is older than touches. One touch gets it all.
 */
function toTouchesWithoutVisit(submission: SubmissionRow, links: LinkNames): TouchResource[] {
  const { link_id: linkId, click_id: clickId } = submission
  const why = toClickReason(submission)
  const click: TouchResource[] =
    linkId === null ? [] : [{ ...EMPTY_TOUCH, type: 'click', why, linkId, ...links.get(linkId), clickId }]
  return [...click, ...toPageTouches(submission)].map((touch, index) =>
    index === 0 ? { ...touch, ...WHOLE_CREDIT } : touch,
  )
}

/** The form's page is not a touch: a site does not bring visitors to itself. */
function toPageTouches(row: SubmissionRow): TouchResource[] {
  const campaign = toCampaign(row)
  if (!hasCampaign(campaign)) return []
  return [{ ...EMPTY_TOUCH, ...campaign, pageUrl: row.page_url, type: 'campaign', why: PAGE_CAMPAIGN }]
}

const hasSameCampaign = (touch: Campaign, campaign: Campaign) =>
  Object.entries(campaign).every(([name, value]) => touch[name as keyof Campaign] === value)
