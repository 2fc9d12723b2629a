// Stores a submission, with everything that belongs to it, in one transaction: when this resolves, the disk has it.

import { createHmac } from 'node:crypto'
import { type Insertable, sql } from 'kysely'
import { orderedJson } from '../../lib/ordered-json.ts'
import { foldCase } from '../../lib/text.ts'
import type { Db, Rows } from '../../storage/rows/open.ts'
import { prepared } from '../../storage/rows/prepared.ts'
import type { Tables } from '../../storage/rows/tables.ts'
import type { CreditTouches } from '../attribution/credit.ts'
import type { Joined, JoinVisit } from '../attribution/joined.ts'
import type { DescribeSender, Sender } from '../attribution/sender.ts'
import { campaignColumns } from '../attribution/touch.ts'
import type { SaltOf } from '../hits/visitor.ts'
import { enqueueDeliveries } from '../notify/enqueue.ts'
import type { GoodToken } from './captcha.ts'
import type { Sent } from './fields.ts'
import type { FormSettings } from './form-settings.ts'
import { Refusal } from './refusal.ts'

const DUPLICATE_WITHIN_MS = 30_000

export interface SubmitNeeds {
  rows: Rows
  now: () => number
  saltOf: SaltOf
  describeSender: DescribeSender
  joinVisit: JoinVisit
  creditTouches: CreditTouches
  /** Something waits to be delivered. */
  wakeDeliverer: () => void
}

export interface SubmissionSent extends Pick<Sent, 'fields' | 'email'> {
  address: string
  userAgent: string
  referer: string
  eventId: string | undefined
  /** The sender asked not to be followed. */
  alone: boolean
  /** Spent with the submission, or not at all. */
  token: GoodToken | undefined
}

const SPENT = new Error('the token was spent by another submission')

/** @returns whether it is stored; not where the token was spent by another. @throws Refusal 404, `unavailable` */
export async function storeSubmission(
  needs: SubmitNeeds,
  form: FormSettings,
  sent: SubmissionSent,
): Promise<boolean> {
  const { rows, now, saltOf } = needs
  const at = now()
  const { fields, address, token } = sent
  const { workspaceId } = form
  const { joined, columns } = describe(needs, workspaceId, sent, at)
  const text = orderedJson([...fields])
  const printUnder = (salt: string) =>
    createHmac('sha256', salt).update(`${form.id}|${address}|${text}`).digest('hex')
  const [salt, before] = [saltOf(at), saltOf(at - DUPLICATE_WITHIN_MS)]
  const fingerprint = printUnder(salt)
  // The salt is another one just after midnight.
  const prints = before === salt ? [fingerprint] : [fingerprint, printUnder(before)]
  try {
    await rows.write(async (db, onCommit) => {
      if (token && !(await token.spend(db))) throw SPENT
      const duplicateOf = await findFirst(rows, db, form, prints, at)
      const [inserted] = await insertSubmission(db, {
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
      const waits = duplicateOf === null && (await enqueueDeliveries(db, rows.engine, told)) > 0
      if (waits) onCommit(needs.wakeDeliverer)
      // Last: a link is held until the commit, and many may wait for it.
      const of = { id, workspaceId, isLead: duplicateOf === null }
      await needs.creditTouches(db, onCommit, of, joined?.touches ?? [])
    })
    return true
  } catch (error) {
    if (error === SPENT) return false
    if (isParentGone(error)) throw new Refusal(404, 'Form not found')
    throw error
  }
}

/** Who sent it, from where, and what brought them: what the visit knows, else what the request itself says. */
function describe(
  { describeSender, joinVisit }: SubmitNeeds,
  workspaceId: number,
  { address, userAgent, referer, eventId, alone }: SubmissionSent,
  at: number,
) {
  const sender = describeSender({ at, workspaceId, address, userAgent, referer })
  const joined = alone ? undefined : joinVisit({ at, workspaceId, eventId, referer })
  const { visit, click } = joined ?? {}
  const source = visit?.last ?? sender
  const columns = {
    visitor: sender.visitor,
    link_id: click?.linkId ?? null,
    click_id: click?.clickId ?? null,
    event_id: visit?.id ?? null,
    session_linked: Number(visit !== undefined),
    attribution: click ? 'measured' : 'none',
    attribution_due: Number(!click && !alone),
    referrer: source.referrer,
    page_url: pageOf(sender, visit),
    landing_url: visit?.first.landingUrl ?? null,
    ...campaignColumns(source),
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
function pageOf({ pageUrl }: Pick<Sender, 'pageUrl'>, visit: Joined['visit']): string | null {
  const seen = visit?.pageUrl ?? null
  if (pageUrl === null || seen === null) return pageUrl ?? seen
  const page = URL.parse(pageUrl)
  return page?.pathname === '/' && URL.parse(seen)?.origin === page.origin ? seen : pageUrl
}

/** The first of the identical submissions just before this one. */
async function findFirst(rows: Rows, db: Db, form: FormSettings, prints: string[], at: number) {
  if (rows.engine === 'postgres') {
    // Transactions of the same moment do not see each other: one waits here for the other's commit.
    const lock = Buffer.from(prints[0] ?? '', 'hex').readBigInt64BE(0)
    await sql`select pg_advisory_xact_lock(${lock.toString()}::bigint)`.execute(db)
  }
  const [found] = await firstSince(db, {
    print: prints[0] as string,
    other: (prints[1] ?? prints[0]) as string,
    since: at - DUPLICATE_WITHIN_MS,
    workspaceId: form.workspaceId,
  })
  return found?.first ?? null
}

const insertSubmission = prepared((db, values: Insertable<Tables['submissions']>) =>
  db.insertInto('submissions').values(values).returning('id'),
)

const firstSince = prepared(
  (db, asked: { print: string; other: string; since: number; workspaceId: number }) =>
    db
      .selectFrom('submissions')
      .select(sql<number | null>`min(coalesce(duplicate_of, id))`.as('first'))
      .where('fingerprint', 'in', [asked.print, asked.other])
      .where('created_at', '>', asked.since)
      // The plus keeps SQLite from the index by workspace, which has all of a busy form's last half minute.
      .where(sql`+workspace_id`, '=', asked.workspaceId),
)

/** The form was deleted while its submission was read. */
const isParentGone = (error: unknown) =>
  error instanceof Error &&
  ['SQLITE_CONSTRAINT_FOREIGNKEY', '23503'].includes((error as { code?: string }).code ?? '')
