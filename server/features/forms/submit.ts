// Stores a submission, with everything that belongs to it, in one transaction: when this resolves, the disk has it.

import { createHmac } from 'node:crypto'
import { sql } from 'kysely'
import { orderedJson } from '../../lib/ordered-json.ts'
import { foldCase } from '../../lib/text.ts'
import type { Db, Rows } from '../../storage/rows/open.ts'
import type { DescribeSender } from '../attribution/sender.ts'
import type { SaltOf } from '../hits/visitor.ts'
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
}

export interface SubmissionSent extends Pick<Sent, 'fields' | 'email'> {
  address: string
  userAgent: string
  referer: string
  /** Spent with the submission, or not at all. */
  token: GoodToken | undefined
}

const SPENT = new Error('the token was spent by another submission')

/** @returns whether it is stored; not where the token was spent by another. @throws Refusal 404, `unavailable` */
export async function storeSubmission(
  { rows, now, saltOf, describeSender }: SubmitNeeds,
  form: FormSettings,
  sent: SubmissionSent,
): Promise<boolean> {
  const at = now()
  const { fields, address, userAgent, referer, token } = sent
  const sender = describeSender({ at, workspaceId: form.workspaceId, address, userAgent, referer })
  const text = orderedJson([...fields])
  const printUnder = (salt: string) =>
    createHmac('sha256', salt).update(`${form.id}|${address}|${text}`).digest('hex')
  const [salt, before] = [saltOf(at), saltOf(at - DUPLICATE_WITHIN_MS)]
  const fingerprint = printUnder(salt)
  // The salt is another one just after midnight.
  const prints = before === salt ? [fingerprint] : [fingerprint, printUnder(before)]
  try {
    await rows.write(async (db) => {
      if (token && !(await token.spend(db))) throw SPENT
      const duplicateOf = await findFirst(rows, db, form, prints, at)
      await db
        .insertInto('submissions')
        .values({
          workspace_id: form.workspaceId,
          form_id: form.id,
          fields: text,
          search_text: foldCase([...fields.values()].join('\n')),
          notes: null,
          email: sent.email ?? null,
          fingerprint,
          duplicate_of: duplicateOf,
          visitor: sender.visitor,
          link_id: null,
          click_id: null,
          event_id: null,
          attribution_due: 1,
          referrer: sender.referrer,
          page_url: sender.pageUrl,
          landing_url: null,
          utm_source: sender.utmSource,
          utm_medium: sender.utmMedium,
          utm_campaign: sender.utmCampaign,
          utm_term: sender.utmTerm,
          utm_content: sender.utmContent,
          device: sender.device,
          browser: sender.browser,
          os: sender.os,
          country: sender.country,
          region: sender.region,
          city: sender.city,
          created_at: at,
        })
        .execute()
    })
    return true
  } catch (error) {
    if (error === SPENT) return false
    if (isParentGone(error)) throw new Refusal(404, 'Form not found')
    throw error
  }
}

/** The first of the identical submissions just before this one. */
async function findFirst(rows: Rows, db: Db, form: FormSettings, prints: string[], at: number) {
  if (rows.engine === 'postgres') {
    // Transactions of the same moment do not see each other: one waits here for the other's commit.
    const lock = Buffer.from(prints[0] ?? '', 'hex').readBigInt64BE(0)
    await sql`select pg_advisory_xact_lock(${lock.toString()}::bigint)`.execute(db)
  }
  const found = await db
    .selectFrom('submissions')
    .select(sql<number | null>`min(coalesce(duplicate_of, id))`.as('first'))
    .where('fingerprint', 'in', prints)
    .where('created_at', '>', at - DUPLICATE_WITHIN_MS)
    // The plus keeps SQLite from the index by workspace, which has all of a busy form's last half minute.
    .where(sql`+workspace_id`, '=', form.workspaceId)
    .executeTakeFirst()
  return found?.first ?? null
}

/** The form was deleted while its submission was read. */
const isParentGone = (error: unknown) =>
  error instanceof Error &&
  ['SQLITE_CONSTRAINT_FOREIGNKEY', '23503'].includes((error as { code?: string }).code ?? '')
