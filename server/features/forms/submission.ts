// A submission as a row and as the resource that callers see; and the submissions of a form, chosen by filters.

import { type Expression, expressionBuilder, type Selectable, type SqlBool, sql } from 'kysely'
import { foldCase } from '../../lib/text.ts'
import { iso } from '../../lib/wire.ts'
import type { Db, Rows } from '../../storage/rows/open.ts'
import type { Submissions, Tables } from '../../storage/rows/tables.ts'
import type { Actor } from '../accounts/actor.ts'
import { campaignOf } from '../attribution/touch.ts'
import { SELECTION_TEXTS, type SubmissionResource, type SubmissionSelection } from './schema.ts'

export interface SubmissionNeeds {
  rows: Rows
  /** Decides what is still undecided about recent submissions of a workspace, so that an answer shows it. */
  settleAttribution: (workspaceId: number) => Promise<void>
}

/** What an answer is made of: not the text for searching, which is as long as the fields once more. */
export const SUBMISSION_COLUMNS = [
  'submissions.id',
  'submissions.fields',
  'submissions.status',
  'submissions.notes',
  'submissions.email',
  'submissions.duplicate_of',
  'submissions.link_id',
  'submissions.click_id',
  'submissions.event_id',
  'submissions.session_linked',
  'submissions.attribution',
  'submissions.attribution_due',
  'submissions.referrer',
  'submissions.page_url',
  'submissions.landing_url',
  'submissions.utm_source',
  'submissions.utm_medium',
  'submissions.utm_campaign',
  'submissions.utm_term',
  'submissions.utm_content',
  'submissions.device',
  'submissions.browser',
  'submissions.os',
  'submissions.country',
  'submissions.region',
  'submissions.city',
  'submissions.created_at',
] as const

type Column = (typeof SUBMISSION_COLUMNS)[number] extends `submissions.${infer C}` ? C : never
export type SubmissionRow = Pick<Selectable<Submissions>, Column> & { form_key: string }

/** Who asks, or whose submission is told of when nobody asks. */
type Owner = Pick<Actor, 'workspaceId'>

/**
 * Reaches submissions through their form, whose workspace it asks for: the index of a form's submissions then serves
 * order and count alone.
 */
const submissionsOf = (db: Db, actor: Owner) =>
  db
    .selectFrom('forms')
    .innerJoin('submissions', 'submissions.form_id', 'forms.id')
    .where('forms.workspace_id', '=', actor.workspaceId)

export const submissionRows = (db: Db, actor: Owner) =>
  submissionsOf(db, actor).select(SUBMISSION_COLUMNS).select('forms.form_key')

/** Those of one form that a selection is about, without columns. */
export const selectedSubmissions = (db: Db, actor: Actor, formId: number, by: SubmissionSelection) =>
  submissionsOf(db, actor).where('forms.id', '=', formId).where(passes(by))

/** Those of every form: by the workspace's own index, which serves order and count alone without the forms. */
export const workspaceSubmissions = (db: Db, { workspaceId }: Owner, by: SubmissionSelection) =>
  db.selectFrom('submissions').where('submissions.workspace_id', '=', workspaceId).where(passes(by))

function passes(by: SubmissionSelection): Expression<SqlBool> {
  const e = expressionBuilder<Tables, 'submissions'>()
  const all: Expression<SqlBool>[] = []
  if (by.start !== undefined) all.push(e('submissions.created_at', '>=', by.start))
  if (by.end !== undefined) all.push(e('submissions.created_at', '<', by.end))
  if (by.status !== undefined) all.push(e('submissions.status', 'in', by.status))
  if (by.attribution !== undefined) all.push(e('submissions.attribution', '=', by.attribution))
  if (by.linkId !== undefined) all.push(e('submissions.link_id', '=', by.linkId))
  if (by.country !== undefined) all.push(e('submissions.country', '=', by.country.toUpperCase()))
  // A valid address is ASCII, so the engines agree on its lower case.
  if (by.email !== undefined) all.push(sql<boolean>`lower(submissions.email) = ${by.email.toLowerCase()}`)
  for (const name of SELECTION_TEXTS) {
    const value = by[name]
    if (value !== undefined) all.push(e(COLUMN_OF[name], '=', value))
  }
  if (by.search) {
    const pattern = `%${foldCase(by.search).replace(/[\\%_]/g, '\\$&')}%`
    all.push(sql<boolean>`submissions.search_text like ${pattern} escape '\\'`)
  }
  return e.and(all)
}

const COLUMN_OF = {
  referrer: 'submissions.referrer',
  utmSource: 'submissions.utm_source',
  utmMedium: 'submissions.utm_medium',
  utmCampaign: 'submissions.utm_campaign',
  utmTerm: 'submissions.utm_term',
  utmContent: 'submissions.utm_content',
  device: 'submissions.device',
  browser: 'submissions.browser',
  os: 'submissions.os',
  region: 'submissions.region',
  city: 'submissions.city',
} as const

/** Reads with everything decided; once more where something came in between. */
export async function readSettled(
  { settleAttribution }: Pick<SubmissionNeeds, 'settleAttribution'>,
  actor: Owner,
  read: () => Promise<SubmissionRow[]>,
): Promise<SubmissionRow[]> {
  await settleAttribution(actor.workspaceId)
  const found = await read()
  if (!found.some((row) => row.attribution_due === 1)) return found
  await settleAttribution(actor.workspaceId)
  return read()
}

export const fieldsOf = (row: Pick<SubmissionRow, 'fields'>) =>
  new Map(JSON.parse(row.fields) as [string, string][])

export function submissionResource(row: SubmissionRow): SubmissionResource {
  return {
    id: row.id,
    formKey: row.form_key,
    fields: fieldsOf(row),
    status: row.status as SubmissionResource['status'],
    notes: row.notes,
    email: row.email,
    duplicateOf: row.duplicate_of,
    referrer: row.referrer,
    pageUrl: row.page_url,
    landingUrl: row.landing_url,
    ...campaignOf(row),
    linkId: row.link_id,
    clickId: row.click_id,
    eventId: row.event_id,
    sessionLinked: row.session_linked === 1,
    attribution: row.attribution as SubmissionResource['attribution'],
    device: row.device,
    browser: row.browser,
    os: row.os,
    country: row.country,
    region: row.region,
    city: row.city,
    createdAt: iso(row.created_at),
  }
}
