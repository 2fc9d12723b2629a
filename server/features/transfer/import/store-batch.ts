// Stores one batch of links in one transaction: the links, the outcome of each row, and the progress of the import.
// After a kill the import goes on behind the last stored batch. The batch of a dry run is rolled back.

import type { Insertable } from 'kysely'
import { sql } from 'kysely'
import { createPacer } from '../../../lib/concurrency/next-turn.ts'
import { hashPassword } from '../../../lib/crypto/password.ts'
import { Failure } from '../../../lib/failure.ts'
import type { Connection } from '../../../storage/database/open-database.ts'
import type { ImportRows } from '../../../storage/database/tables/transfer-tables.ts'
import type { LinkTransaction } from '../../links/create.ts'
import { storeTotals } from '../history/click-totals.ts'
import type { LinkRowReading } from '../reader/protocol.ts'
import { createDomainChooser } from './choose-domain.ts'
import type { DryRunNameKind, DryRunNames } from './dry-run-names.ts'
import { type ImportRun, updateRun } from './import-run.ts'
import { type LinkOutcome, type LinkToStore, storeLink, toStoringDatabase } from './store-link.ts'

export interface BatchStorer {
  run: ImportRun
  taken: DryRunNames
  chooseDomain: ReturnType<typeof createDomainChooser>
}

export const createBatchStorer = (run: ImportRun, taken: DryRunNames): BatchStorer => ({
  run,
  taken,
  chooseDomain: createDomainChooser(run),
})

type NewRow = Omit<Insertable<ImportRows>, 'import_id' | 'workspace_id'>

export interface BatchResult {
  rows: NewRow[]
  created: number
  renamed: number
  skipped: number
  failed: number
  /** The first row whose slug is taken. */
  conflict: { row: number; name: string; message: string } | null
  /** For later rows of a dry run. */
  taken: [DryRunNameKind, string][]
}

/** Rolls back the transaction of a dry run's batch. */
class Rollback extends Error {
  readonly result: BatchResult
  constructor(result: BatchResult) {
    super('the batch of a dry run')
    this.result = result
  }
}

/** @throws ImportInterrupted, Failure `unavailable` */
export async function storeBatch(storer: BatchStorer, readings: LinkRowReading[]): Promise<void> {
  const { run } = storer
  const { db } = run.needs
  if (run.isDryRun) {
    const result = await tryBatch(storer, readings)
    await db.write((connection) => storeResult(connection, run, result, readings.length))
    return
  }
  const hashes = await hashPasswords(readings)
  await db.write(async (connection, onCommit) => {
    // First, because it locks the row of the import: an undo that is asked for now waits for this batch.
    await updateRun(connection, run, 'links', { position: sql`position + ${readings.length}` as never })
    const result = await storeReadings(storer, { ...run.needs, connection, onCommit }, readings, hashes)
    await storeFigures(connection, run, result)
  })
}

/** Creates the links and rolls them back. @returns what would have become of them */
export async function tryBatch(storer: BatchStorer, readings: LinkRowReading[]): Promise<BatchResult> {
  const { needs } = storer.run
  const result = await needs.db
    .write(async (connection, onCommit): Promise<BatchResult> => {
      throw new Rollback(await storeReadings(storer, { ...needs, connection, onCommit }, readings, new Map()))
    })
    .catch((error) => {
      if (error instanceof Rollback) return error.result
      throw error
    })
  for (const [kind, name] of result.taken) storer.taken.add(kind, name)
  return result
}

async function storeResult(connection: Connection, run: ImportRun, result: BatchResult, count: number) {
  await updateRun(connection, run, 'links', { position: sql`position + ${count}` as never })
  // Nothing was created: the ids are those of rows that were rolled back.
  const rows = result.rows.map((row) => ({ ...row, item_id: null, item_updated_at: null }))
  await storeFigures(connection, run, { ...result, rows })
}

async function storeFigures(connection: Connection, run: ImportRun, result: BatchResult): Promise<void> {
  const { id: import_id, workspace_id } = run.row
  if (result.rows.length > 0)
    await connection
      .insertInto('import_rows')
      .values(result.rows.map((row) => ({ ...row, import_id, workspace_id })))
      .execute()
  const { created, renamed, skipped, failed } = result
  await updateRun(connection, run, 'links', {
    created: sql`created + ${created}` as never,
    renamed: sql`renamed + ${renamed}` as never,
    skipped: sql`skipped + ${skipped}` as never,
    failed: sql`failed + ${failed}` as never,
  })
}

/** One after the other: each takes 50 ms of a core, and the transaction must not wait for them. */
async function hashPasswords(
  readings: LinkRowReading[],
): Promise<Map<LinkRowReading, string | null | undefined>> {
  const hashes = new Map<LinkRowReading, string | null | undefined>()
  for (const reading of readings) {
    const password = reading.link?.password
    if (password) hashes.set(reading, await hashPassword(password, 'links'))
  }
  return hashes
}

async function storeReadings(
  storer: BatchStorer,
  transaction: LinkTransaction,
  readings: LinkRowReading[],
  hashes: Map<LinkRowReading, string | null | undefined>,
): Promise<BatchResult> {
  const result: BatchResult = {
    rows: [],
    created: 0,
    renamed: 0,
    skipped: 0,
    failed: 0,
    conflict: null,
    taken: [],
  }
  const totals = new Map<number, number>()
  const batch = { ...storer, transaction, result, totals, db: toStoringDatabase(transaction) }
  const pace = createPacer()
  for (const reading of readings) {
    await pace()
    await storeReading(batch, reading, hashes.get(reading))
  }
  const { id: importId, workspace_id: workspaceId } = storer.run.row
  await storeTotals(transaction.db.engine, transaction.connection, { importId, workspaceId }, [...totals])
  return result
}

interface OpenBatch extends BatchStorer {
  transaction: LinkTransaction
  db: ReturnType<typeof toStoringDatabase>
  result: BatchResult
  /** The tool's click totals, by the ids of links. */
  totals: Map<number, number>
}

/** A row without a link. Every row has all columns, because one statement stores them. */
const NO_ITEM = { kind: 'link', name: null, item_id: null, item_updated_at: null, field: null, value: null }

async function storeReading(
  batch: OpenBatch,
  { row, keys, aliasKeys, link, problems }: LinkRowReading,
  passwordHash: string | null | undefined,
): Promise<void> {
  const { result, transaction } = batch
  if (!link) {
    const [{ field, value, message } = { field: null, value: null, message: 'The row cannot be read.' }] =
      problems
    result.failed++
    result.rows.push({ ...NO_ITEM, row, outcome: 'failed', field, value, message })
    return
  }
  const domain = await batch.chooseDomain(transaction.connection, link.host).catch((error) => {
    if (error instanceof Failure && error.code === 'invalid') return error
    throw error
  })
  if (domain instanceof Failure) {
    const message = domain.detail.errors?.domain ?? domain.message
    const failed = { ...NO_ITEM, row, outcome: 'failed', field: 'domain', value: link.host, message }
    const rows = [link.slug, ...link.aliases].map(() => failed)
    result.failed += rows.length
    result.rows.push(...rows)
    return
  }
  const wanted = { link, domain, passwordHash }
  const linkId = await storeOne(batch, row, keys, { ...wanted, slug: link.slug })
  // Aliases have no count of their own.
  if (linkId !== null && link.clicks)
    batch.totals.set(linkId, Math.max(link.clicks, batch.totals.get(linkId) ?? 0))
  for (const [index, alias] of link.aliases.entries())
    await storeOne(batch, row, aliasKeys.slice(index, index + 1), { ...wanted, slug: alias })
}

/** @returns the id of the link that the row is about; null where there is none */
async function storeOne(
  batch: OpenBatch,
  row: number,
  keys: string[],
  wanted: LinkToStore,
): Promise<number | null> {
  const { result, run, transaction, taken } = batch
  const before = await findEarlier(transaction.connection, run, keys)
  if (before || keys.some((key) => taken.has('key', key))) {
    result.skipped++
    const isEarlier = before && before.importId !== run.row.id
    const message = isEarlier ? 'Imported before.' : 'The file has this link twice.'
    result.rows.push({ ...NO_ITEM, row, outcome: 'skipped', message, name: before?.name ?? null })
    return before?.linkId ?? null
  }
  const outcome = await storeLink(batch, wanted)
  addOutcome(batch, row, outcome)
  const linkId =
    'resource' in outcome ? outcome.resource.id : outcome.outcome === 'skipped' ? outcome.linkId : null
  if (linkId === null) return null
  for (const key of keys) result.taken.push(['key', key])
  await storeKeys(transaction.connection, run, keys, linkId)
  return linkId
}

/** A link that is permanently deleted may come again. */
async function findEarlier(connection: Connection, { actor, source }: ImportRun, keys: string[]) {
  if (keys.length === 0) return undefined
  const row = await connection
    .selectFrom('import_keys')
    .innerJoin('links', 'links.id', 'import_keys.link_id')
    .select(['import_keys.import_id', 'links.id', 'links.slug'])
    .where('import_keys.workspace_id', '=', actor.workspaceId)
    .where('links.workspace_id', '=', actor.workspaceId)
    .where('source', '=', source)
    .where('source_key', 'in', keys)
    .where('links.purged_at', 'is', null)
    .executeTakeFirst()
  return row && { importId: row.import_id, linkId: row.id, name: row.slug }
}

async function storeKeys(connection: Connection, { row, source }: ImportRun, keys: string[], linkId: number) {
  if (keys.length === 0) return
  const columns = { workspace_id: row.workspace_id, source, link_id: linkId, import_id: row.id }
  await connection
    .insertInto('import_keys')
    .values(keys.map((source_key) => ({ ...columns, source_key })))
    .onConflict((conflict) =>
      conflict
        .columns(['workspace_id', 'source', 'source_key'])
        .doUpdateSet({ link_id: linkId, import_id: row.id }),
    )
    .execute()
}

function addOutcome({ result }: OpenBatch, row: number, outcome: LinkOutcome): void {
  if (outcome.outcome === 'failed') {
    result.failed++
    result.rows.push({ ...NO_ITEM, row, outcome: 'failed', ...outcome.problem })
    return
  }
  if (outcome.outcome === 'skipped') {
    const { name, problem, linkId, isSame } = outcome
    result.skipped++
    if (!isSame) result.conflict ??= { row, name, message: problem.message }
    result.rows.push({ ...NO_ITEM, row, outcome: 'skipped', name, item_id: linkId, ...problem })
    return
  }
  const { resource, notes, newTags, names } = outcome
  result.created++
  if (outcome.outcome === 'renamed') result.renamed++
  result.taken.push(...names)
  const message = notes.length > 0 ? notes.join('; ') : null
  const item = {
    item_id: resource.id,
    item_updated_at: Date.parse(resource.updatedAt),
    field: null,
    value: null,
  }
  const name = `${resource.domain}/${resource.slug}`
  result.rows.push({ ...item, row, kind: 'link', outcome: outcome.outcome, name, message })
  for (const tag of newTags) {
    const tagItem = { item_id: tag.id, item_updated_at: null, field: null, value: null, message: null }
    result.rows.push({ ...tagItem, row, kind: 'tag', outcome: 'created', name: tag.name })
  }
}
