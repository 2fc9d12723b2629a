// Stores a submission, with everything that belongs to it, in one transaction: when this resolves, the disk has it.

import { createHmac } from 'node:crypto'
import { type Insertable, sql } from 'kysely'
import { orderedJson } from '../../../lib/ordered-json.ts'
import { foldCase } from '../../../lib/text.ts'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import { prepareQuery } from '../../../storage/database/prepare-query.ts'
import type { Tables } from '../../../storage/database/tables.ts'
import type { VisitMatch, VisitMatcher } from '../../attribution/match-visit.ts'
import type { TouchRecorder } from '../../attribution/record-touches.ts'
import type { Sender, SenderDescriber } from '../../attribution/sender.ts'
import { enqueueDeliveries } from '../../notify/delivery/enqueue-deliveries.ts'
import { toCampaignColumns } from '../../visitors/campaign-columns.ts'
import type { SaltLookup } from '../../visitors/salts.ts'
import type { VerifiedToken } from '../captcha/captcha-provider.ts'
import type { FormSettings } from '../settings/form-settings.ts'
import { EndpointError } from './endpoint-error.ts'
import type { SubmissionInput } from './fields.ts'

const DUPLICATE_WITHIN_MS = 30_000

export interface StoreSubmissionNeeds {
  db: Database
  now: () => number
  getSalt: SaltLookup
  describeSender: SenderDescriber
  joinVisit: VisitMatcher
  creditTouches: TouchRecorder
  /** Something waits to be delivered. */
  wakeDeliverer: () => void
}

export interface NewSubmission extends Pick<SubmissionInput, 'fields' | 'email'> {
  address: string
  userAgent: string
  referer: string
  eventId: string | undefined
  /** The sender asked not to be followed. */
  trackingOptOut: boolean
  /** Spent with the submission, or not at all. */
  token: VerifiedToken | undefined
}

const TOKEN_SPENT = new Error('the token was spent by another submission')

/** @returns whether it is stored; not where the token was spent by another. @throws Refusal 404, `unavailable` */
export async function storeSubmission(
  needs: StoreSubmissionNeeds,
  form: FormSettings,
  sent: NewSubmission,
): Promise<boolean> {
  const { db, now, getSalt } = needs
  const at = now()
  const { fields, address, token } = sent
  const { workspaceId } = form
  const { joined, columns } = describeSource(needs, workspaceId, sent, at)
  const text = orderedJson([...fields])
  const printUnder = (salt: string) =>
    createHmac('sha256', salt).update(`${form.id}|${address}|${text}`).digest('hex')
  const [salt, before] = [getSalt(at), getSalt(at - DUPLICATE_WITHIN_MS)]
  const fingerprint = printUnder(salt)
  // The salt is another one just after midnight.
  const prints = before === salt ? [fingerprint] : [fingerprint, printUnder(before)]
  try {
    await db.write(async (connection, onCommit) => {
      if (token && !(await token.spend(connection))) throw TOKEN_SPENT
      const duplicateOf = await findFirstDuplicate(db, connection, form, prints, at)
      const [inserted] = await insertSubmission(connection, {
        workspace_id: workspaceId,
        form_id: form.id,
        fields: text,
        search_text: foldCase([...fields.values()].join('\n')),
        notes: null,
        email: sent.email ?? null,
        fingerprint,
        duplicate_of: duplicateOf,
        ...columns,
        created_at: at,
      })
      const id = (inserted as { id: number }).id
      const { channelIds } = form
      const told = { workspaceId, submissionId: id, channelIds, at }
      // An identical one of the last seconds has told them already.
      const waits = duplicateOf === null && (await enqueueDeliveries(connection, db.engine, told)) > 0
      if (waits) onCommit(needs.wakeDeliverer)
      // Last: a link is held until the commit, and many may wait for it.
      const of = { id, workspaceId, isLead: duplicateOf === null }
      await needs.creditTouches(connection, onCommit, of, joined?.touches ?? [])
    })
    return true
  } catch (error) {
    if (error === TOKEN_SPENT) return false
    if (isForeignKeyError(error)) throw new EndpointError(404, 'Form not found')
    throw error
  }
}

/** Who sent it, from where, and what brought them: what the visit knows, else what the request itself says. */
function describeSource(
  { describeSender, joinVisit }: StoreSubmissionNeeds,
  workspaceId: number,
  { address, userAgent, referer, eventId, trackingOptOut }: NewSubmission,
  at: number,
) {
  const sender = describeSender({ at, workspaceId, address, userAgent, referer })
  const joined = trackingOptOut ? undefined : joinVisit({ at, workspaceId, eventId, referer })
  const { visit, click } = joined ?? {}
  const source = visit?.last ?? sender
  const columns = {
    visitor: sender.visitor,
    link_id: click?.linkId ?? null,
    click_id: click?.clickId ?? null,
    event_id: visit?.id ?? null,
    session_linked: Number(visit !== undefined),
    attribution: click ? 'measured' : 'none',
    attribution_due: Number(!click && !trackingOptOut),
    referrer: source.referrer,
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
  return { joined, columns }
}

/** Most browsers tell other sites which site a form is on and not which page; the visit may know that too. */
function choosePageUrl({ pageUrl }: Pick<Sender, 'pageUrl'>, visit: VisitMatch['visit']): string | null {
  const seen = visit?.pageUrl ?? null
  if (pageUrl === null || seen === null) return pageUrl ?? seen
  const page = URL.parse(pageUrl)
  return page?.pathname === '/' && URL.parse(seen)?.origin === page.origin ? seen : pageUrl
}

/** The first of the identical submissions just before this one. */
async function findFirstDuplicate(
  db: Database,
  connection: Connection,
  form: FormSettings,
  prints: string[],
  at: number,
) {
  if (db.engine === 'postgres') {
    // Transactions of the same moment do not see each other: one waits here for the other's commit.
    const lock = Buffer.from(prints[0] ?? '', 'hex').readBigInt64BE(0)
    await sql`select pg_advisory_xact_lock(${lock.toString()}::bigint)`.execute(connection)
  }
  const [found] = await selectFirstSince(connection, {
    print: prints[0] as string,
    other: (prints[1] ?? prints[0]) as string,
    since: at - DUPLICATE_WITHIN_MS,
    workspaceId: form.workspaceId,
  })
  return found?.first ?? null
}

const insertSubmission = prepareQuery((connection, values: Insertable<Tables['submissions']>) =>
  connection.insertInto('submissions').values(values).returning('id'),
)

const selectFirstSince = prepareQuery(
  (connection, asked: { print: string; other: string; since: number; workspaceId: number }) =>
    connection
      .selectFrom('submissions')
      .select(sql<number | null>`min(coalesce(duplicate_of, id))`.as('first'))
      .where('fingerprint', 'in', [asked.print, asked.other])
      .where('created_at', '>', asked.since)
      // The plus keeps SQLite from the index by workspace, which has all of a busy form's last half minute.
      .where(sql`+workspace_id`, '=', asked.workspaceId),
)

/** The form was deleted while its submission was read. */
const isForeignKeyError = (error: unknown) =>
  error instanceof Error &&
  ['SQLITE_CONSTRAINT_FOREIGNKEY', '23503'].includes((error as { code?: string }).code ?? '')
