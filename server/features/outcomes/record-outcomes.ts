// Records outcomes of leads, all or nothing, and takes them back. An outcome with a known `externalId` changes in place of a
// second one.

import { createPacer } from '../../lib/concurrency/next-turn.ts'
import { Failure, invalid, notFound } from '../../lib/failure.ts'
import { findAmountProblem, toDecimalText, toSmallestUnits } from '../../lib/money/amount.ts'
import type { Connection, Database, DatabaseEngine } from '../../storage/database/open-database.ts'
import { type Actor, allow } from '../accounts/access/actor.ts'
import { recordAudit } from '../accounts/audit/record-audit.ts'
import { lockWorkspace } from '../accounts/workspaces/lock-workspace.ts'
import { toLeadFacts } from '../notify/events/channel-filter.ts'
import { readEventLinks } from '../notify/events/read-links.ts'
import { enqueueEvents, type NewEvent } from '../notify/outbox/enqueue-events.ts'
import { toCampaign } from '../visitors/campaign-columns.ts'
import { findLead } from './find-lead.ts'
import {
  OUTCOME_COLUMNS,
  OUTCOMES_WRITE,
  type OutcomeRow,
  selectOutcomes,
  toOutcomeResource,
} from './outcome.ts'
import { type CreateOutcomeInput, LEAD_FIELDS, type OutcomeResource, PER_LEAD_MAX } from './schema.ts'

export interface OutcomeNeeds {
  db: Database
  now: () => number
  /** `https://go.example` */
  origin: string
}

const HOUR_MS = 3_600_000

interface OutcomeTransaction {
  connection: Connection
  engine: DatabaseEngine
  workspaceId: number
  at: number
}

/** @throws Failure `invalid` or `conflict`, with `errors` by index */
export function recordOutcomes(
  { db, now, origin }: OutcomeNeeds,
  actor: Actor,
  inputs: CreateOutcomeInput[],
): Promise<{ outcomes: OutcomeResource[]; created: boolean }> {
  allow(actor, OUTCOMES_WRITE)
  const { workspaceId } = actor
  const repeated = findRepeatedIds(inputs)
  if (repeated) throw new Failure('conflict', 'External id already in use', { errors: repeated })
  return db.write(async (connection) => {
    // On PostgreSQL two requests with one external id can run at the same time. A lock on the workspace's row makes one wait.
    if (db.engine === 'postgres' && !(await lockWorkspace(connection, workspaceId)))
      throw notFound('Workspace')
    const transaction = { connection, engine: db.engine, workspaceId, at: now() }
    const pace = createPacer()
    const ids: number[] = []
    const errors: Record<string, string> = {}
    let created = false
    for (const [i, input] of inputs.entries()) {
      await pace()
      const known = await findKnown(transaction, input.externalId)
      const columns = await toColumns(transaction, input, known)
      if ('problems' in columns) {
        for (const [field, message] of Object.entries(columns.problems)) errors[`${i}.${field}`] = message
      } else {
        ids.push(await store(transaction, columns, known))
        created ||= known === undefined
      }
    }
    if (Object.keys(errors).length > 0) throw invalid(errors)
    const outcomes = await readOutcomes(connection, actor, ids)
    await announceOutcomes({ ...transaction, origin }, outcomes)
    return { outcomes, created }
  })
}

/** One outcome alone: its errors have no index. */
export async function recordOutcome(
  needs: OutcomeNeeds,
  actor: Actor,
  input: CreateOutcomeInput,
): Promise<{ outcome: OutcomeResource; created: boolean }> {
  try {
    const { outcomes, created } = await recordOutcomes(needs, actor, [input])
    return { outcome: outcomes[0] as OutcomeResource, created }
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'invalid' || !error.detail.errors) throw error
    throw invalid(
      Object.fromEntries(
        Object.entries(error.detail.errors).map(([field, message]) => [field.replace(/^0\./, ''), message]),
      ),
    )
  }
}

/** One request says of each outcome one thing. */
function findRepeatedIds(inputs: CreateOutcomeInput[]): Record<string, string> | undefined {
  const ids = inputs.map(({ externalId }) => externalId ?? null)
  const repeated = [...ids.entries()].filter(([i, id]) => id !== null && ids.indexOf(id) < i)
  if (repeated.length === 0) return undefined
  return Object.fromEntries(repeated.map(([i]) => [`${i}.externalId`, 'External id already in use']))
}

type Known = Pick<OutcomeRow, 'id' | 'stage' | 'value' | 'currency' | 'at'>

async function findKnown(
  { connection, workspaceId }: OutcomeTransaction,
  externalId: string | null | undefined,
): Promise<Known | undefined> {
  if (!externalId) return undefined
  return connection
    .selectFrom('outcomes')
    .select(['id', 'stage', 'value', 'currency', 'at'])
    .where('workspace_id', '=', workspaceId)
    .where('external_id', '=', externalId)
    .executeTakeFirst()
}

type Columns = Pick<OutcomeRow, 'submission_id' | 'stage' | 'value' | 'currency' | 'at' | 'external_id'>

async function toColumns(
  transaction: OutcomeTransaction,
  input: CreateOutcomeInput,
  known: Known | undefined,
): Promise<Columns | { problems: Record<string, string> }> {
  const { stage, externalId } = input
  const at = input.at ? Date.parse(input.at) : known?.stage === stage ? known.at : transaction.at
  const money = toMoney(input, known)
  const lead = await findLead(transaction, input, at)
  const problems = { ...money.problems }
  if (at > transaction.at + HOUR_MS) problems.at = 'must not be in the future'
  if ('problem' in lead) problems[lead.field] = lead.problem
  else if (!known && (await countOutcomes(transaction, lead.id)) >= PER_LEAD_MAX) {
    const field = LEAD_FIELDS.find((name) => input[name]) ?? 'submissionId'
    problems[field] = `this lead has ${PER_LEAD_MAX} outcomes, and no lead may have more`
  }
  if ('problem' in lead || Object.keys(problems).length > 0) return { problems }
  const { value, currency } = money
  return { submission_id: lead.id, stage, value, currency, at, external_id: externalId ?? null }
}

function toMoney(
  input: Pick<CreateOutcomeInput, 'value' | 'currency'>,
  known: Known | undefined,
): { value: string | null; currency: string | null; problems: Record<string, string> } {
  const value = input.value === undefined ? (known?.value ?? null) : input.value
  const currency = input.currency === undefined ? (known?.currency ?? null) : input.currency
  if (value === null) return { value, currency, problems: {} }
  if (currency === null) return { value, currency, problems: { currency: 'is required with a value' } }
  const problem = findAmountProblem(value, currency)
  if (problem) return { value, currency, problems: { value: problem } }
  return { value: toDecimalText(toSmallestUnits(value, currency), currency), currency, problems: {} }
}

async function countOutcomes({ connection, workspaceId }: OutcomeTransaction, submissionId: number) {
  const { n } = await connection
    .selectFrom('outcomes')
    .select((e) => e.fn.countAll<number>().as('n'))
    .where('workspace_id', '=', workspaceId)
    .where('submission_id', '=', submissionId)
    .executeTakeFirstOrThrow()
  return Number(n)
}

async function store(
  { connection, workspaceId, at: now }: OutcomeTransaction,
  columns: Columns,
  known: Known | undefined,
): Promise<number> {
  if (!known) {
    const { id } = await connection
      .insertInto('outcomes')
      .values({ ...columns, workspace_id: workspaceId, created_at: now, updated_at: now })
      .returning('id')
      .executeTakeFirstOrThrow()
    return id
  }
  await connection
    .updateTable('outcomes')
    .set({ ...columns, updated_at: now })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', known.id)
    .execute()
  return known.id
}

async function readOutcomes(connection: Connection, actor: Actor, ids: number[]): Promise<OutcomeResource[]> {
  const rows = await selectOutcomes(connection, actor)
    .select(OUTCOME_COLUMNS)
    .where('outcomes.id', 'in', ids)
    .execute()
  const resources = new Map(rows.map((row) => [row.id, toOutcomeResource(row)]))
  return ids.map((id) => resources.get(id) as OutcomeResource)
}

/** Stores the deliveries of new outcomes, and of those that an external id has changed. */
const announceOutcomes = (
  { connection, engine, workspaceId, at, origin }: OutcomeTransaction & { origin: string },
  outcomes: OutcomeResource[],
): Promise<void> =>
  enqueueEvents(connection, engine, { workspaceId, event: 'outcome.recorded', at }, async () => {
    const links = await readEventLinks(
      connection,
      { workspaceId, origin },
      outcomes.flatMap(({ linkId }) => linkId ?? []),
    )
    const events: NewEvent[] = []
    for (const outcome of outcomes) {
      const lead = await connection
        .selectFrom('submissions')
        .selectAll()
        .where('workspace_id', '=', workspaceId)
        .where('id', '=', outcome.submissionId)
        .executeTakeFirstOrThrow()
      const { formKey, linkId } = outcome
      const link = linkId === null ? undefined : links.get(linkId)
      const facts = toLeadFacts({ ...lead, ...toCampaign(lead), formKey, linkId }, link)
      events.push({ facts, data: outcome, submissionId: outcome.submissionId })
    }
    return events
  })

/** @returns the outcome as it was. @throws Failure `not_found` */
export function deleteOutcome({ db, now }: OutcomeNeeds, actor: Actor, id: number): Promise<OutcomeResource> {
  allow(actor, OUTCOMES_WRITE)
  return db.write(async (connection) => {
    const row = await selectOutcomes(connection, actor)
      .select(OUTCOME_COLUMNS)
      .where('outcomes.id', '=', id)
      .executeTakeFirst()
    const { numDeletedRows } = await connection
      .deleteFrom('outcomes')
      .where('workspace_id', '=', actor.workspaceId)
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    if (!row || numDeletedRows === 0n) throw notFound('Outcome')
    const target = { type: 'outcome', id } as const
    const detail = { submissionId: row.submission_id, stage: row.stage }
    await recordAudit(connection, actor, { action: 'outcome.deleted', target, detail }, now())
    return toOutcomeResource(row)
  })
}
