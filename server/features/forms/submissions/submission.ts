// A submission as a row and as an API resource, and the queries that choose submissions by filters.

import {
  type Expression,
  expressionBuilder,
  type InferResult,
  type JoinBuilder,
  type SqlBool,
  sql,
} from 'kysely'
import { toCountryFilter } from '../../../lib/country-code.ts'
import { toEmailAddress } from '../../../lib/email.ts'
import { toIso } from '../../../lib/iso-time.ts'
import type { LeadStage, OutcomeStage } from '../../../lib/outcome-stage.ts'
import { toShortUrl } from '../../../lib/web-url.ts'
import { containsFolded } from '../../../storage/database/contains-text.ts'
import type { Connection, Database, DatabaseEngine } from '../../../storage/database/open-database.ts'
import type { Tables } from '../../../storage/database/tables.ts'
import type { Actor } from '../../accounts/access/actor.ts'
import { toCampaign } from '../../visitors/campaign-columns.ts'
import { ANNOUNCED } from '../leads/announced.ts'
import { listFilesAndOutcomes } from './list-outcomes.ts'
import type { SubmissionResource, SubmissionSelection } from './schema.ts'

type Attribution = SubmissionResource['attribution']

export interface SubmissionNeeds {
  db: Database
  /** `https://go.example`, before the slug of a link on the default domain. */
  origin: string
  /** Assigns links to the workspace's pending submissions, as far as that takes at most two seconds. */
  resolvePendingAttribution: (workspaceId: number) => Promise<void>
}

/** The columns of an answer. `search_text` is not among them, because it is as long as all fields together. */
export const SUBMISSION_COLUMNS = [
  'submissions.id',
  'submissions.fields',
  'submissions.status',
  'submissions.spam_reasons',
  'submissions.announced',
  'submissions.announced_at',
  'submissions.consent',
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
  'submissions.ad_click_ids',
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

/** The names of the form and the link, and who has the submission: for queries that join all three. */
export const SUBMISSION_NAME_COLUMNS = [
  'forms.form_key',
  'forms.name as form_name',
  'links.slug as link_slug',
  'links.domain as link_domain',
  'links.title as link_title',
  'submission_assignees.user_id as assignee_id',
] as const

export const joinLinks = (join: JoinBuilder<Tables, 'submissions' | 'links'>) =>
  join
    .onRef('links.id', '=', 'submissions.link_id')
    .onRef('links.workspace_id', '=', 'submissions.workspace_id')

/** By the primary key of the assignees. */
export const joinAssignees = (join: JoinBuilder<Tables, 'submissions' | 'submission_assignees'>) =>
  join
    .onRef('submission_assignees.submission_id', '=', 'submissions.id')
    .onRef('submission_assignees.workspace_id', '=', 'submissions.workspace_id')

type Reader = Pick<Database, 'read' | 'engine'>

/** The workspace of the caller, or, for a notification, of the submission. */
type WorkspaceOwner = Pick<Actor, 'workspaceId'>

/**
 * Checks the workspace on the form and not on the submission. The index of a form's submissions then serves order and
 * count alone.
 */
const joinThroughForms = (connection: Connection, actor: WorkspaceOwner) =>
  connection
    .selectFrom('forms')
    .innerJoin('submissions', 'submissions.form_id', 'forms.id')
    .where('forms.workspace_id', '=', actor.workspaceId)

export const selectSubmissions = (connection: Connection, actor: WorkspaceOwner) =>
  joinThroughForms(connection, actor)
    .leftJoin('links', joinLinks)
    .leftJoin('submission_assignees', joinAssignees)
    .select(SUBMISSION_COLUMNS)
    .select(SUBMISSION_NAME_COLUMNS)

/** The names of a link are null when no link is known. */
type RowOfColumns = InferResult<ReturnType<typeof selectSubmissions>>[number]
export type SubmissionRow = RowOfColumns & Pick<SubmissionResource, 'files' | 'outcomes'>

/** Adds the files and the outcomes of all rows with few queries. */
export async function addFilesAndOutcomes(
  connection: Connection,
  { workspaceId }: WorkspaceOwner,
  rows: RowOfColumns[],
): Promise<SubmissionRow[]> {
  const ids = rows.map(({ id }) => id)
  const { files, outcomes } = await listFilesAndOutcomes(connection, workspaceId, ids)
  return rows.map((row) => ({
    ...row,
    files: files.get(row.id) ?? [],
    outcomes: outcomes.get(row.id) ?? [],
  }))
}

/** The submissions of one form that pass the filters. The caller adds the columns. */
export const selectFormSubmissions = (
  { read, engine }: Reader,
  actor: Actor,
  formId: number,
  by: SubmissionSelection,
) => joinThroughForms(read, actor).where('forms.id', '=', formId).where(toCondition(engine, by))

/** The same for all forms of a workspace. Its index by workspace serves order and count without the forms. */
export const selectWorkspaceSubmissions = (
  { read, engine }: Reader,
  { workspaceId }: WorkspaceOwner,
  by: SubmissionSelection,
) =>
  read
    .selectFrom('submissions')
    .where('submissions.workspace_id', '=', workspaceId)
    .where(toCondition(engine, by))

/**
 * The given submissions that pass the filters. The caller adds the columns. The plus stops SQLite from reading an
 * index of the whole workspace instead of the ids.
 */
export const selectSubmissionsById = (
  { read, engine }: Reader,
  { workspaceId }: WorkspaceOwner,
  ids: number[],
  by: SubmissionSelection = {},
) =>
  read
    .selectFrom('submissions')
    .where('submissions.id', 'in', ids)
    .where(sql<boolean>`+submissions.workspace_id = ${workspaceId}`)
    .where(toCondition(engine, by))

function toCondition(engine: DatabaseEngine, by: SubmissionSelection): Expression<SqlBool> {
  const e = expressionBuilder<Tables, 'submissions'>()
  const conditions: Expression<SqlBool>[] = []
  if (by.start !== undefined) conditions.push(e('submissions.created_at', '>=', by.start))
  if (by.end !== undefined) conditions.push(e('submissions.created_at', '<', by.end))
  if (by.status !== undefined) conditions.push(e('submissions.status', 'in', by.status))
  if (by.test !== undefined) conditions.push(e('submissions.announced', by.test ? '=' : '<>', ANNOUNCED.test))
  if (by.attribution !== undefined) conditions.push(hasAttribution(by.attribution))
  if (by.stage !== undefined) conditions.push(hasOutcome(by.stage))
  if (by.latestStage !== undefined) conditions.push(hasLatestStage(by.latestStage))
  if (by.assigneeId !== undefined) conditions.push(hasAssignee(by.assigneeId))
  if (by.linkId !== undefined) conditions.push(e('submissions.link_id', '=', by.linkId))
  if (by.country !== undefined) conditions.push(e('submissions.country', '=', toCountryFilter(by.country)))
  // A valid address is ASCII, so SQLite and PostgreSQL agree on its lower case.
  if (by.email !== undefined)
    conditions.push(
      sql<boolean>`lower(submissions.email) = ${(toEmailAddress(by.email) ?? by.email).toLowerCase()}`,
    )
  for (const [name, column] of Object.entries(TEXT_COLUMNS)) {
    const value = by[name as keyof typeof TEXT_COLUMNS]
    if (value !== undefined) conditions.push(e(column, '=', value))
  }
  if (by.search) conditions.push(containsFolded(engine, 'submissions.search_text', by.search))
  return e.and(conditions)
}

/** The plus keeps SQLite off the index by workspace, which has the outcomes of all submissions. */
const hasOutcome = (stage: OutcomeStage) => sql<boolean>`exists (select 1 from outcomes
  where outcomes.submission_id = submissions.id and +outcomes.workspace_id = submissions.workspace_id
    and outcomes.stage = ${stage})`

/** A row of few columns for each submission, so the newest of them costs no index of its own. */
const hasLatestStage = (stage: LeadStage) =>
  sql<boolean>`coalesce((select outcomes.stage from outcomes
    where outcomes.submission_id = submissions.id and +outcomes.workspace_id = submissions.workspace_id
    order by outcomes.at desc, outcomes.id desc limit 1), 'new') = ${stage}`

const hasAssignee = (assignee: number | 'none') =>
  assignee === 'none'
    ? sql<boolean>`not exists (select 1 from submission_assignees as assigned
        where assigned.submission_id = submissions.id and assigned.workspace_id = submissions.workspace_id)`
    : sql<boolean>`exists (select 1 from submission_assignees as assigned
        where assigned.submission_id = submissions.id and assigned.workspace_id = submissions.workspace_id
          and assigned.user_id = ${assignee})`

/** A pending row is stored with `attribution = 'none'`, and must not pass a filter for `none`. */
function hasAttribution(attribution: Attribution): Expression<SqlBool> {
  const e = expressionBuilder<Tables, 'submissions'>()
  if (attribution === 'pending') return e('submissions.attribution_due', '=', 1)
  return e.and([e('submissions.attribution', '=', attribution), e('submissions.attribution_due', '=', 0)])
}

const TEXT_COLUMNS = {
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
 * Reads rows after their attribution is decided, but waits at most two seconds. Retries once when a new submission
 * came in between. Undecided rows read `pending`.
 */
export async function readWithAttribution(
  { resolvePendingAttribution }: Pick<SubmissionNeeds, 'resolvePendingAttribution'>,
  actor: WorkspaceOwner,
  read: () => Promise<SubmissionRow[]>,
): Promise<SubmissionRow[]> {
  await resolvePendingAttribution(actor.workspaceId)
  const rows = await read()
  if (!rows.some((row) => row.attribution_due === 1)) return rows
  await resolvePendingAttribution(actor.workspaceId)
  return read()
}

export const parseStoredFields = (row: Pick<SubmissionRow, 'fields'>) =>
  new Map(JSON.parse(row.fields) as [string, string][])

const toAttribution = ({
  attribution,
  attribution_due: due,
}: Pick<SubmissionRow, 'attribution' | 'attribution_due'>) =>
  due === 1 ? 'pending' : (attribution as Attribution)

function toLinkNames(
  origin: string,
  { link_slug: slug, link_domain: domain, link_title: title }: SubmissionRow,
) {
  if (slug === null || domain === null) return null
  return { slug, shortUrl: toShortUrl({ origin }, { domain, slug }), title }
}

function toConsent(json: string | null): SubmissionResource['consent'] {
  if (json === null) return null
  const { at, ...consent } = JSON.parse(json)
  return { ...consent, at: toIso(at) }
}

export function toSubmissionResource(
  { origin }: Pick<SubmissionNeeds, 'origin'>,
  row: SubmissionRow,
): SubmissionResource {
  return {
    id: row.id,
    formKey: row.form_key,
    formName: row.form_name,
    fields: parseStoredFields(row),
    files: row.files,
    status: row.status as SubmissionResource['status'],
    test: row.announced === ANNOUNCED.test,
    spamReasons: row.spam_reasons === null ? [] : JSON.parse(row.spam_reasons),
    consent: toConsent(row.consent),
    notes: row.notes,
    assigneeId: row.assignee_id,
    email: row.email,
    duplicateOf: row.duplicate_of,
    referrer: row.referrer,
    pageUrl: row.page_url,
    landingUrl: row.landing_url,
    ...toCampaign(row),
    linkId: row.link_id,
    link: toLinkNames(origin, row),
    clickId: row.click_id,
    eventId: row.event_id,
    sessionLinked: row.session_linked === 1,
    attribution: toAttribution(row),
    device: row.device,
    browser: row.browser,
    os: row.os,
    country: row.country,
    region: row.region,
    city: row.city,
    ...(row.ad_click_ids !== null && { adClickIds: JSON.parse(row.ad_click_ids) }),
    outcomes: row.outcomes,
    createdAt: toIso(row.created_at),
  }
}
