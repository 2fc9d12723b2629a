// Stores a submission with its touches and deliveries in one transaction. When it resolves, the disk has them.

import type { Insertable } from 'kysely'
import { createPacer } from '../../../lib/concurrency/next-turn.ts'
import { foldMarks } from '../../../lib/text.ts'
import { parseUrl } from '../../../lib/web-url.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import { prepareInsert } from '../../../storage/database/prepare-query.ts'
import type { Tables } from '../../../storage/database/tables.ts'
import type { VisitMatch, VisitMatcher } from '../../attribution/match-visit.ts'
import type { TouchRecorder } from '../../attribution/record-touches.ts'
import type { Sender, SenderDescriber } from '../../attribution/sender.ts'
import { extractAdClickIds, parseAdClickIds } from '../../visitors/ad-click-ids.ts'
import { toCampaignColumns } from '../../visitors/campaign-columns.ts'
import type { SaltLookup } from '../../visitors/salts.ts'
import type { VerifiedToken } from '../captcha/captcha-provider.ts'
import { tellChannels } from '../leads/announce-submission.ts'
import { ANNOUNCED } from '../leads/announced.ts'
import type { ReplyOutbox } from '../replies/reply-outbox.ts'
import type { FormSettings } from '../settings/form-settings.ts'
import type { SubmissionStatus } from '../submissions/schema.ts'
import { recordFiles } from '../uploads/record-files.ts'
import type { SubmittedFile } from '../uploads/submitted-file.ts'
import { EndpointError } from './endpoint-error.ts'
import type { SubmissionInput } from './fields.ts'
import { findFirstDuplicate, noteStored, toFingerprint } from './find-duplicate.ts'
import type { StoreTogether } from './store-together.ts'

export interface StoreSubmissionNeeds {
  db: Database
  now: () => number
  getSalt: SaltLookup
  describeSender: SenderDescriber
  matchVisit: VisitMatcher
  recordTouches: TouchRecorder
  replies: ReplyOutbox
  /** On PostgreSQL, for submissions without deliveries, replies, files and touches. */
  storeTogether?: StoreTogether | undefined
  /** The most bytes of all files of one workspace. */
  uploadBytesPerWorkspace: number
  /** Tells the deliverer that a delivery waits. */
  wakeDeliverer: () => void
}

/** The sender's data in the request. */
export interface SubmissionSource {
  /** When it was sent. */
  at: number
  /** '' where a site's own server has sent it and does not name the sender's. */
  address: string
  userAgent: string
  /** The page with the form: the Referer header, or ''. */
  referer: string
  /** The page that led the sender to the form. Only a site's own server names it. */
  referrer?: string
  /** The sender's browser asked not to be tracked: the submission is matched with no visit and no click. */
  trackingOptOut: boolean
  /** A test of the dashboard: it notifies nobody and is excluded from all statistics. */
  isTest?: boolean
}

export interface NewSubmission extends SubmissionSource, Pick<SubmissionInput, 'fields' | 'email'> {
  /** Files that are stored already. The caller discards them if the submission is not stored. */
  files: SubmittedFile[]
  /** If not empty, the submission is stored as spam. */
  spamReasons: string[]
  /** The sender's consent. */
  consent: { field: string; text: string } | null
  /** The language of the sender's page, such as `de`. */
  language: string | null
  eventId: string | undefined
  /** The snippet's report of a page view, as it was sent. */
  pageView?: string
  /** The token is spent in the submission's transaction, or not at all. */
  token: VerifiedToken | undefined
}

/** `token spent` (by another submission) and `no room` (for the files in the workspace) mean that nothing is stored. */
export type StoreResult = { id: number } | 'token spent' | 'no room'

const TOKEN_SPENT = new Error('another submission has spent the token')
const NO_ROOM = new Error('the workspace has no room for the files')

/** A text of this length is folded in one step: a megabyte of marks takes as long as a thousand redirects. */
const SHORT = 16_384
const isShort = (text: string) => text.length <= SHORT

function toSearchText(fields: NewSubmission['fields'], json: string): string | Promise<string> {
  const values = [...fields.values()]
  return isShort(json) ? foldMarks(values.join('\n')) : foldInSteps(values)
}

async function foldInSteps(values: string[]): Promise<string> {
  const pace = createPacer()
  const folded: string[] = []
  for (const value of values) {
    folded.push(foldMarks(value))
    await pace()
  }
  return folded.join('\n')
}

/**
 * @throws EndpointError 404, Failure `unavailable`
 */
export async function storeSubmission(
  needs: StoreSubmissionNeeds,
  form: FormSettings,
  submission: NewSubmission,
): Promise<StoreResult> {
  const { db, now } = needs
  const { files, token, email } = submission
  const { workspaceId } = form
  const { row, fingerprint, touches } = await toRow(needs, form, submission)
  const isAnnounced = row.announced === ANNOUNCED.yes
  const channelIds = isAnnounced ? form.channelIds : []
  const isReplied = row.status !== 'spam' && needs.replies.mayAnswer(form, email)
  const others = files.length + channelIds.length + touches.length
  if (needs.storeTogether && others === 0 && !token && !isReplied && isShort(row.fields)) {
    const id = await needs.storeTogether({ row, fingerprint })
    if (id !== undefined) return { id }
  }
  try {
    return await db.write(async (connection, onCommit) => {
      if (token && !(await token.spend(connection))) throw TOKEN_SPENT
      const duplicateOf = await findFirstDuplicate(db, connection, fingerprint)
      const id = await insertSubmission(connection, { ...row, duplicate_of: duplicateOf })
      noteStored(db, fingerprint, id)
      const owner = { workspaceId, submissionId: id, at: submission.at }
      if (!(await recordFiles(connection, owner, files, needs.uploadBytesPerWorkspace))) throw NO_ROOM
      // A duplicate is not delivered: its channels got the identical submission seconds ago.
      const isFirst = duplicateOf === null
      const lead = { id, workspaceId, channelIds, at: now() }
      if (isFirst) await tellChannels(connection, onCommit, needs, lead)
      if (isFirst && isReplied)
        await needs.replies.answer(connection, onCommit, form, { id, email, at: lead.at })
      // Last, because this locks the link's row until the commit, and many submissions may wait for that row.
      const credited = { id, workspaceId, isLead: isFirst && isAnnounced }
      await needs.recordTouches(connection, onCommit, credited, touches)
      return { id }
    })
  } catch (error) {
    if (error === TOKEN_SPENT) return 'token spent'
    if (error === NO_ROOM) return 'no room'
    if (isForeignKeyError(error)) throw new EndpointError(404, 'Form not found')
    throw error
  }
}

async function toRow(needs: StoreSubmissionNeeds, form: FormSettings, submission: NewSubmission) {
  const { db, getSalt } = needs
  const { at, fields, files, address, spamReasons, isTest } = submission
  const { workspaceId } = form
  const { match, columns } = describeSource(needs, workspaceId, submission)
  const fieldsJson = JSON.stringify([...fields])
  // A test and a submission are no duplicates of each other.
  const content = [
    isTest ? `${form.id} test` : form.id,
    address,
    fieldsJson,
    ...files.map(({ sha256 }) => sha256),
  ].join('|')
  const fingerprint = toFingerprint(db.engine, workspaceId, content, getSalt, at)
  const status = toFirstStatus(needs, form, submission)
  const row = {
    workspace_id: workspaceId,
    form_id: form.id,
    fields: fieldsJson,
    search_text: await toSearchText(fields, fieldsJson),
    notes: null,
    status,
    spam_reasons: spamReasons.length > 0 ? JSON.stringify(spamReasons) : null,
    consent: submission.consent && JSON.stringify({ ...submission.consent, at }),
    language: submission.language,
    announced: isTest ? ANNOUNCED.test : status === 'new' ? ANNOUNCED.yes : ANNOUNCED.no,
    email: submission.email ?? null,
    fingerprint: fingerprint.text,
    ...columns,
    ad_click_ids: form.adClickIds ? findAdClickIds(match, submission) : null,
    created_at: at,
  }
  return { row, fingerprint, touches: match?.touches ?? [] }
}

/** Senders of spam are not asked to confirm: spam causes no mail. */
function toFirstStatus(
  { replies }: StoreSubmissionNeeds,
  form: FormSettings,
  { spamReasons, email, isTest }: NewSubmission,
): SubmissionStatus {
  if (spamReasons.length > 0) return 'spam'
  if (replies.mustConfirm(form, email)) return 'unconfirmed'
  // The person who sends a test has seen it, so it is not unread.
  return isTest ? 'read' : 'new'
}

/**
 * The columns about the sender and the source. The campaign is that of the visit's last touch, or else of the page in the
 * request. Only a visit, or the site's own server, knows the referrer: the request names the form's own site.
 */
function describeSource(
  { describeSender, matchVisit }: StoreSubmissionNeeds,
  workspaceId: number,
  { at, address, userAgent, referer, referrer, eventId, pageView, trackingOptOut }: NewSubmission,
) {
  const sender = describeSender({ at, workspaceId, address, userAgent, referer })
  const match = trackingOptOut
    ? undefined
    : matchVisit({ at, workspaceId, eventId, pageView, referer, referrer })
  const { visit, click } = match ?? {}
  // Without an address, all senders would be one visitor.
  const isKnown = address !== ''
  const source = visit?.last ?? sender
  const columns = {
    visitor: isKnown ? sender.visitor : null,
    link_id: click?.linkId ?? null,
    click_id: click?.clickId ?? null,
    event_id: visit?.id ?? null,
    // A page view that comes with the form has no separate time.
    page_seconds: visit && pageView === undefined ? toPageSeconds(visit, at) : null,
    session_linked: Number(visit !== undefined),
    attribution: click ? 'measured' : 'none',
    attribution_due: Number(isKnown && !click && !trackingOptOut),
    referrer: visit ? visit.last.referrer : (match?.referrer ?? null),
    page_url: choosePageUrl(sender, visit),
    landing_url: visit?.first.landingUrl ?? null,
    ...toCampaignColumns(source),
    device: sender.device,
    browser: sender.browser,
    os: sender.os,
    country: sender.country,
    region: sender.region,
    city: sender.city,
  }
  return { match, columns }
}

/**
 * The values of the touch that gets the lead, or of the form's page, which the inferred click may have led to. As
 * JSON.
 */
function findAdClickIds(
  match: VisitMatch | undefined,
  { referer, trackingOptOut }: Pick<NewSubmission, 'referer' | 'trackingOptOut'>,
): string | null {
  if (trackingOptOut) return null
  const credited = match?.touches.at(-1)
  const found = credited?.adClickIds ?? extractAdClickIds(parseUrl(referer)?.search.slice(1) ?? '')
  return found === undefined ? null : JSON.stringify(parseAdClickIds(found))
}

/** Seconds between the last page view and the submission. */
export const toPageSeconds = ({ seenAt }: Pick<NonNullable<VisitMatch['visit']>, 'seenAt'>, at: number) =>
  Math.max(0, Math.round((at - seenAt) / 1000))

/** Most browsers tell another site only the form's origin, not its page. The visit may know the page. */
function choosePageUrl({ pageUrl }: Pick<Sender, 'pageUrl'>, visit: VisitMatch['visit']): string | null {
  const visitedUrl = visit?.pageUrl ?? null
  if (pageUrl === null || visitedUrl === null) return pageUrl ?? visitedUrl
  const page = parseUrl(pageUrl)
  return page?.pathname === '/' && parseUrl(visitedUrl)?.origin === page.origin ? visitedUrl : pageUrl
}

const insertSubmission = prepareInsert((connection, values: Insertable<Tables['submissions']>) =>
  connection.insertInto('submissions').values(values),
)

/** The form was deleted while the request was read. */
const isForeignKeyError = (error: unknown) =>
  error instanceof Error &&
  ['SQLITE_CONSTRAINT_FOREIGNKEY', '23503'].includes((error as { code?: string }).code ?? '')
