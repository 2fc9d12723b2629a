// A submission as a row and as the resource that callers see; and the submissions of a form, chosen by filters.

import { type Expression, expressionBuilder, type Selectable, type SqlBool, sql } from 'kysely'
import { toIso } from '../../../lib/api-fields.ts'
import { foldCase } from '../../../lib/text.ts'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import type { Submissions, Tables } from '../../../storage/database/tables.ts'
import type { Actor } from '../../accounts/access/actor.ts'
import { toCampaign } from '../../visitors/campaign-columns.ts'
import { SELECTION_TEXT_FIELDS, type SubmissionResource, type SubmissionSelection } from '../schema.ts'

type Attribution = SubmissionResource['attribution']

export interface SubmissionNeeds {
  db: Database
  /** Decides what is undecided about recent submissions of a workspace, where that is known within two seconds. */
  resolvePendingAttribution: (workspaceId: number) => Promise<void>
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
type WorkspaceOwner = Pick<Actor, 'workspaceId'>

/**
 * Reaches submissions through their form, whose workspace it asks for: the index of a form's submissions then serves
 * order and count alone.
 */
const joinThroughForms = (connection: Connection, actor: WorkspaceOwner) =>
  connection
    .selectFrom('forms')
    .innerJoin('submissions', 'submissions.form_id', 'forms.id')
    .where('forms.workspace_id', '=', actor.workspaceId)

export const selectSubmissions = (connection: Connection, actor: WorkspaceOwner) =>
  joinThroughForms(connection, actor).select(SUBMISSION_COLUMNS).select('forms.form_key')

/** Those of one form that a selection is about, without columns. */
export const selectFormSubmissions = (
  connection: Connection,
  actor: Actor,
  formId: number,
  by: SubmissionSelection,
) => joinThroughForms(connection, actor).where('forms.id', '=', formId).where(toCondition(by))

/** Those of every form: by the workspace's own index, which serves order and count alone without the forms. */
export const selectWorkspaceSubmissions = (
  connection: Connection,
  { workspaceId }: WorkspaceOwner,
  by: SubmissionSelection,
) =>
  connection
    .selectFrom('submissions')
    .where('submissions.workspace_id', '=', workspaceId)
    .where(toCondition(by))

function toCondition(by: SubmissionSelection): Expression<SqlBool> {
  const e = expressionBuilder<Tables, 'submissions'>()
  const all: Expression<SqlBool>[] = []
  if (by.start !== undefined) all.push(e('submissions.created_at', '>=', by.start))
  if (by.end !== undefined) all.push(e('submissions.created_at', '<', by.end))
  if (by.status !== undefined) all.push(e('submissions.status', 'in', by.status))
  if (by.attribution !== undefined) all.push(hasAttribution(by.attribution))
  if (by.linkId !== undefined) all.push(e('submissions.link_id', '=', by.linkId))
  if (by.country !== undefined) all.push(e('submissions.country', '=', by.country.toUpperCase()))
  // A valid address is ASCII, so the engines agree on its lower case.
  if (by.email !== undefined) all.push(sql<boolean>`lower(submissions.email) = ${by.email.toLowerCase()}`)
  for (const name of SELECTION_TEXT_FIELDS) {
    const value = by[name]
    if (value !== undefined) all.push(e(COLUMN_BY_FIELD[name], '=', value))
  }
  if (by.search) {
    const pattern = `%${foldCase(by.search).replace(/[\\%_]/g, '\\$&')}%`
    all.push(sql<boolean>`submissions.search_text like ${pattern} escape '\\'`)
  }
  return e.and(all)
}

/** A row that is not decided yet is stored with `attribution = 'none'`, and must not pass a filter for `none`. */
function hasAttribution(attribution: Attribution): Expression<SqlBool> {
  const e = expressionBuilder<Tables, 'submissions'>()
  if (attribution === 'pending') return e('submissions.attribution_due', '=', 1)
  return e.and([e('submissions.attribution', '=', attribution), e('submissions.attribution_due', '=', 0)])
}

const COLUMN_BY_FIELD = {
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

/**
 * Reads with everything decided that can be decided within two seconds; once more where something came in between. A row
 * that is still undecided reads `pending`.
 */
export async function readWithAttribution(
  { resolvePendingAttribution }: Pick<SubmissionNeeds, 'resolvePendingAttribution'>,
  actor: WorkspaceOwner,
  read: () => Promise<SubmissionRow[]>,
): Promise<SubmissionRow[]> {
  await resolvePendingAttribution(actor.workspaceId)
  const found = await read()
  if (!found.some((row) => row.attribution_due === 1)) return found
  await resolvePendingAttribution(actor.workspaceId)
  return read()
}

export const parseStoredFields = (row: Pick<SubmissionRow, 'fields'>) =>
  new Map(JSON.parse(row.fields) as [string, string][])

const attributionOf = ({
  attribution,
  attribution_due: due,
}: Pick<SubmissionRow, 'attribution' | 'attribution_due'>) =>
  due === 1 ? 'pending' : (attribution as Attribution)

export function toSubmissionResource(row: SubmissionRow): SubmissionResource {
  return {
    id: row.id,
    formKey: row.form_key,
    fields: parseStoredFields(row),
    status: row.status as SubmissionResource['status'],
    notes: row.notes,
    email: row.email,
    duplicateOf: row.duplicate_of,
    referrer: row.referrer,
    pageUrl: row.page_url,
    landingUrl: row.landing_url,
    ...toCampaign(row),
    linkId: row.link_id,
    clickId: row.click_id,
    eventId: row.event_id,
    sessionLinked: row.session_linked === 1,
    attribution: attributionOf(row),
    device: row.device,
    browser: row.browser,
    os: row.os,
    country: row.country,
    region: row.region,
    city: row.city,
    createdAt: toIso(row.created_at),
  }
}
