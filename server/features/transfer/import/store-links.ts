// Stores one batch of links.

import { createPacer } from '../../../lib/concurrency/next-turn.ts'
import { hashPassword } from '../../../lib/crypto/password.ts'
import { Failure } from '../../../lib/failure.ts'
import { foldCase } from '../../../lib/text.ts'
import type { Connection } from '../../../storage/database/open-database.ts'
import type { LinkTransaction } from '../../links/create.ts'
import { storeTotals } from '../history/click-totals.ts'
import type { LinkRowReading } from '../reader/protocol.ts'
import { IMPORTED_BEFORE, toCreated, toFailed, toSkipped } from '../workspace/archive-import.ts'
import { storeKeys } from '../workspace/item-keys.ts'
import { createDomainChooser } from './choose-domain.ts'
import type { DryRunNameKind, DryRunNames } from './dry-run-names.ts'
import type { ImportRun } from './import-run.ts'
import { type LinkOutcome, type LinkToStore, storeLink, toStoringDatabase } from './store-link.ts'
import { type StoredRow, type StoreItems, storeRows, tryRows, UNREADABLE } from './store-rows.ts'

export interface LinkStorer {
  run: ImportRun
  taken: DryRunNames
  chooseDomain: ReturnType<typeof createDomainChooser>
}

export const createLinkStorer = (run: ImportRun, taken: DryRunNames): LinkStorer => ({
  run,
  taken,
  chooseDomain: createDomainChooser(run),
})

/** @throws ImportInterrupted, Failure `unavailable` */
export async function storeLinks(storer: LinkStorer, readings: LinkRowReading[]): Promise<void> {
  const { run } = storer
  const hashes = run.isDryRun ? undefined : await hashPasswords(readings)
  await withNames(storer, readings, hashes, (store) => storeRows(run, readings.length, store))
}

/** Creates the links and rolls them back. @returns the outcomes that an import would have */
export const tryLinks = (storer: LinkStorer, readings: LinkRowReading[]): Promise<StoredRow[]> =>
  withNames(storer, readings, undefined, (store) => tryRows(storer.run, store))

/** Password hashes by the readings of their links. */
type PasswordHashes = ReadonlyMap<LinkRowReading, string | null | undefined>

/** Stores the names of the batch for later rows of a dry run, after the batch is rolled back. */
async function withNames<T>(
  storer: LinkStorer,
  readings: LinkRowReading[],
  hashes: PasswordHashes | undefined,
  use: (store: StoreItems) => Promise<T>,
): Promise<T> {
  let names: OpenBatch['names'] = []
  const result = await use(async (connection, onCommit) => {
    const transaction = { ...storer.run.needs, connection, onCommit }
    const batch = {
      ...storer,
      transaction,
      db: toStoringDatabase(transaction),
      rows: [],
      names: [],
      totals: new Map(),
    }
    names = batch.names
    await storeReadings(batch, readings, hashes)
    return batch.rows
  })
  for (const [kind, name] of names) storer.taken.add(kind, name)
  return result
}

/** Runs before the transaction and one after the other, because each hash takes 50 ms of a core. */
async function hashPasswords(readings: LinkRowReading[]): Promise<PasswordHashes> {
  const hashes = new Map<LinkRowReading, string | null | undefined>()
  for (const reading of readings) {
    const password = reading.link?.password
    if (password) hashes.set(reading, await hashPassword(password, 'links'))
  }
  return hashes
}

interface OpenBatch extends LinkStorer {
  transaction: LinkTransaction
  db: ReturnType<typeof toStoringDatabase>
  rows: StoredRow[]
  /** For later rows of a dry run. */
  names: [DryRunNameKind, string][]
  /** The tool's click totals, by the ids of links. */
  totals: Map<number, number>
}

async function storeReadings(
  batch: OpenBatch,
  readings: LinkRowReading[],
  hashes: PasswordHashes | undefined,
): Promise<void> {
  const { run, transaction, totals } = batch
  const pace = createPacer()
  for (const reading of readings) {
    await pace()
    await storeReading(batch, reading, hashes?.get(reading))
  }
  const { id: importId, workspace_id: workspaceId } = run.row
  await storeTotals(transaction.db.engine, transaction.connection, { importId, workspaceId }, [...totals])
}

const UNNAMED = { kind: 'link', name: null } as const

async function storeReading(
  batch: OpenBatch,
  { row, keys, aliasKeys, link, problems }: LinkRowReading,
  passwordHash: string | null | undefined,
): Promise<void> {
  const { rows, transaction, totals } = batch
  if (!link) {
    rows.push({ row, outcome: toFailed(UNNAMED, problems[0] ?? UNREADABLE) })
    return
  }
  const domain = await batch.chooseDomain(transaction.connection, link.host).catch((error) => {
    if (error instanceof Failure && error.code === 'invalid') return error
    throw error
  })
  if (domain instanceof Failure) {
    const message = domain.detail.errors?.domain ?? domain.message
    const outcome = toFailed(UNNAMED, { field: 'domain', value: link.host, message })
    rows.push(...[link.slug, ...link.aliases].map(() => ({ row, outcome })))
    return
  }
  const wanted = { link, domain, passwordHash }
  const linkId = await storeOne(batch, row, keys, { ...wanted, slug: link.slug })
  // Aliases have no count of their own.
  if (linkId !== null && link.clicks) totals.set(linkId, Math.max(link.clicks, totals.get(linkId) ?? 0))
  for (const [index, alias] of link.aliases.entries())
    await storeOne(batch, row, aliasKeys.slice(index, index + 1), { ...wanted, slug: alias })
}

/** @returns the id of the row's link; null without one */
async function storeOne(
  batch: OpenBatch,
  row: number,
  keys: string[],
  wanted: LinkToStore,
): Promise<number | null> {
  const { rows, run, transaction, taken, names } = batch
  const before = await findEarlier(transaction.connection, run, keys)
  if (before || keys.some((key) => taken.has('key', key))) {
    const isEarlier = before && before.importId !== run.row.id
    const message = isEarlier ? IMPORTED_BEFORE : 'The file has this link twice.'
    rows.push({ row, outcome: toSkipped({ kind: 'link', name: before?.name ?? null }, message) })
    return before?.linkId ?? null
  }
  const outcome = await storeLink(batch, wanted)
  addOutcome(batch, row, outcome)
  const linkId =
    'resource' in outcome ? outcome.resource.id : outcome.outcome === 'skipped' ? outcome.linkId : null
  if (linkId === null) return null
  for (const key of keys) names.push(['key', key])
  const { id: importId, workspace_id: workspaceId } = run.row
  await storeKeys(transaction.connection, { workspaceId, importId, source: run.source }, keys, linkId)
  return linkId
}

/** Permanently deleted links can be imported again. */
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

function addOutcome({ rows, names, taken }: OpenBatch, row: number, outcome: LinkOutcome): void {
  if (outcome.outcome === 'failed') {
    rows.push({ row, outcome: toFailed(UNNAMED, outcome.problem) })
    return
  }
  if (outcome.outcome === 'skipped') {
    const { name, problem, linkId, isSame } = outcome
    const skipped = toSkipped({ kind: 'link', name }, problem.message)
    rows.push({ row, outcome: { ...skipped, ...problem, itemId: linkId, isConflict: !isSame } })
    return
  }
  const { resource, notes, newTags } = outcome
  names.push(...outcome.names)
  const item = { kind: 'link', name: `${resource.domain}/${resource.slug}` } as const
  const created = toCreated(
    item,
    { id: resource.id, updated_at: Date.parse(resource.updatedAt) },
    notes.join('; ') || null,
  )
  rows.push({ row, outcome: { ...created, outcome: outcome.outcome } })
  for (const { id, name } of newTags) {
    const key = foldCase(name)
    if (taken.has('tag', key)) continue
    names.push(['tag', key])
    rows.push({ row, outcome: toCreated({ kind: 'tag', name }, { id, updated_at: null }), isPart: true })
  }
}
