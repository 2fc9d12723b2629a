// Loads batches into ClickHouse, each exactly once. ClickHouse has no transactions, so a batch is one block with a token,
// which ClickHouse accepts once within a window, and its mark follows. A batch that may have been sent before is counted
// first.

import { log } from '../../../lib/log.ts'
import { createBinder, type ValueBinder } from '../../filter-sql.ts'
import { toClickHouseVisitor } from '../day-visitor.ts'
import type { Hit } from '../hit.ts'
import { HIT_COLUMNS } from '../hit-columns.ts'
import type { Batch } from '../hit-engine.ts'
import { type BatchExtent, readBatchBody, readBatchExtent } from './batch-body.ts'
import { requireCaughtUp } from './caught-up.ts'
import type { ClickHouseClient } from './client.ts'
import { deleteWhere } from './delete.ts'
import { clickHouseDialect } from './dialect.ts'
import { toPlaceholder } from './parameters.ts'

const fields = Object.keys(HIT_COLUMNS) as (keyof Hit)[]

/** SQL that reads the required fields of a hit from text. An invalid or too large number is null. */
const REQUIRED: Partial<Record<keyof Hit, string>> = {
  id: 'toInt64OrNull(id)',
  at: 'toInt64OrNull(at)',
  workspaceId: 'toInt64OrNull(workspaceId)',
  linkId: 'toInt64OrNull(linkId)',
  outcome: 'outcome',
  class: 'class',
  trigger: 'trigger',
  visitor: 'toUInt64OrNull(visitor)',
}
const IMPORT_ID: keyof Hit = 'importId'
const VISITOR = toClickHouseVisitor(`assumeNotNull(${REQUIRED.visitor})`, `assumeNotNull(${REQUIRED.at})`)

/** Throws for a missing or too large value. ClickHouse would store 0, '' or the last digits of the number. */
function toStoredValue(field: keyof Hit): string {
  if (field === IMPORT_ID) return 'toInt64OrNull(importId)'
  const value = REQUIRED[field]
  if (value === undefined) return field
  const known = field === 'visitor' ? VISITOR : `assumeNotNull(${value})`
  return `if(throwIf(isNull(${value}), 'A hit has no valid ${field}') = 0, ${known}, NULL)`
}

const INSERT = `INSERT INTO hits (node, ${fields.map((field) => HIT_COLUMNS[field]).join(', ')})
  SELECT {p1:String}, ${fields.map(toStoredValue).join(', ')}
  FROM input('${fields.map((field) => `${field} Nullable(String)`).join(', ')}')
  WHERE NOT ifNull(toInt64OrNull(at) < {p2:Int64}, 0) FORMAT JSONEachRow`

/** More rows than any batch has, so that a batch is one block with one token. */
const BLOCK_ROWS = 10_000_000
const INSERT_SETTINGS = {
  async_insert: 0,
  // Since 26.1 ClickHouse ignores the token of an INSERT SELECT that it cannot prove to be stable.
  insert_deduplicate: 1,
  deduplicate_insert_select: 'enable_even_for_bad_queries',
  // Imported hits can be of many months.
  max_partitions_per_insert_block: 0,
  input_format_null_as_default: 0,
  input_format_json_read_objects_as_strings: 0,
  input_format_json_read_arrays_as_strings: 0,
  input_format_parallel_parsing: 0,
  max_insert_block_size: BLOCK_ROWS,
  min_insert_block_size_rows: BLOCK_ROWS,
  min_insert_block_size_bytes: 0,
  max_insert_threads: 1,
  max_execution_time: 60,
}
/** Longer than the server's limit of the statement, so a batch is not sent again while it is being stored. */
const INSERT_TIMEOUT_MS = 90_000

export interface HitLoader {
  /** @returns the number of the last loaded batch of a node; 0 if there is none */
  mark(node: string): Promise<number>
  /** One call at a time. @param since hits recorded before this moment are left out */
  load(batch: Batch, since: number): Promise<void>
  skip(node: string, through: number): Promise<void>
}

/**
 * A batch counts as new for this time after the previous one. Another process of the same node could have sent it before it
 * ended, but within this time ClickHouse knows its token, up to 160 batches a second of all nodes.
 */
const NEW_FOR_MS = 60_000

export function createHitLoader(client: ClickHouseClient): HitLoader {
  /** When this process last loaded a batch of each node. A failure removes the entry. */
  const loadedAt = new Map<string, number>()
  return {
    mark: (node) => readMark(client, node),
    async load(batch, since) {
      const { node, number } = batch
      const mark = await readMark(client, node)
      if (number <= mark) return
      if (number !== mark + 1) throw new Error(`Batch ${number} of ${node} does not follow batch ${mark}`)
      const isNew = performance.now() - (loadedAt.get(node) ?? Number.NEGATIVE_INFINITY) < NEW_FOR_MS
      loadedAt.delete(node)
      if (isNew) await insertHits(client, batch, since, toToken(batch))
      else await insertMissing(client, batch, since)
      await writeMark(client, node, number)
      loadedAt.set(node, performance.now())
    },
    skip: (node, through) => writeMark(client, node, through),
  }
}

const toToken = ({ node, number }: Batch) => `${node}/${number}`

/** Sends a file of one node's hits, once. @throws `ClickHouseError`; with `isAway` it is unknown whether the hits are stored */
export async function insertHits(
  client: ClickHouseClient,
  batch: Pick<Batch, 'node' | 'path'>,
  since: number,
  token: string,
): Promise<void> {
  const body = await readBatchBody(batch.path)
  await client.insert(INSERT, body, {
    params: [batch.node, since],
    settings: { ...INSERT_SETTINGS, insert_deduplication_token: token },
    timeoutMs: INSERT_TIMEOUT_MS,
  })
}

/**
 * Loads a batch that may have been sent before, by a killed process or with a lost answer. All, none or some months of it can
 * be stored, and ClickHouse may or may not know its token.
 */
async function insertMissing(client: ClickHouseClient, batch: Batch, since: number): Promise<void> {
  const extent = await readBatchExtent(batch.path, since)
  await requireCaughtUp(client)
  const isWhole = async () => (await countHits(client, batch, extent)).own === extent.ids.length
  if (extent.ids.length > 0 && (await isWhole())) return
  // If ClickHouse knows the token, this adds only the missing months.
  await insertHits(client, batch, since, toToken(batch))
  if (await isWhole()) return
  // The token was too old, and some hits are stored twice; or the hits were deleted, and their token is still known.
  log.warn('hits.batch_loaded_anew', { node: batch.node, batch: batch.number })
  await deleteHits(client, batch, extent)
  await insertHits(client, batch, since, `${toToken(batch)}/${crypto.randomUUID()}`)
  if (!(await isWhole())) throw new Error(`Batch ${batch.number} of ${batch.node} is not as it was sent`)
}

/** With more workspaces, the condition does not make the search faster. */
const WORKSPACES_MAX = 1000

/** A condition that finds the hits of a batch by the table's sort key and months. */
function toRangeSql({ node }: Batch, { ids, times, workspaceIds }: BatchExtent, bind: ValueBinder): string {
  const [first, last] = ids.reduce(([low, high], id) => [Math.min(low, id), Math.max(high, id)], EMPTY_RANGE)
  const few = workspaceIds.size <= WORKSPACES_MAX
  return [
    `node = ${bind(node)}`,
    `id >= ${bind(first)} AND id <= ${bind(last)}`,
    `recorded_at >= ${bind(times.first)} AND recorded_at <= ${bind(times.last)}`,
    ...(few ? [`workspace_id IN ${bind([...workspaceIds])}`] : []),
  ].join(' AND ')
}
const EMPTY_RANGE: [number, number] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]

/** @returns the number of the batch's hits in the table, and of other hits with ids between them */
async function countHits(
  client: ClickHouseClient,
  batch: Batch,
  extent: BatchExtent,
): Promise<{ own: number; foreign: number }> {
  if (extent.ids.length === 0) return { own: 0, foreign: 0 }
  const { params, bind } = createBinder(clickHouseDialect)
  const isOwn = `id IN (SELECT arrayJoin(${bind(extent.ids)}))`
  const sql = `SELECT countIf(is_own), countIf(NOT is_own)
    FROM (SELECT ${isOwn} AS is_own FROM hits WHERE ${toRangeSql(batch, extent, bind)})`
  const [[own, foreign] = []] = await client.select(sql, { params })
  return { own: Number(own), foreign: Number(foreign) }
}

async function deleteHits(client: ClickHouseClient, batch: Batch, extent: BatchExtent): Promise<void> {
  const { own, foreign } = await countHits(client, batch, extent)
  if (own === 0) return
  // Imported hits can lie between them. ClickHouse cannot delete a long list of ids.
  if (foreign > 0) throw new Error(`Batch ${batch.number} of ${batch.node} lies among other hits`)
  await deleteWhere(client, (bind) => toRangeSql(batch, extent, bind))
}

async function readMark(client: ClickHouseClient, node: string): Promise<number> {
  const sql = `SELECT max(batch) FROM hit_marks WHERE node = ${toPlaceholder(1, node)}`
  const [[mark] = []] = await client.select(sql, { params: [node] })
  return Number(mark)
}

/** Adds a mark. Only the highest mark of a node counts, so this never lowers it. */
async function writeMark(client: ClickHouseClient, node: string, number: number): Promise<void> {
  const sql = `INSERT INTO hit_marks (node, batch) SETTINGS async_insert = 0 SELECT {p1:String}, {p2:Int64}`
  await client.execute(sql, { params: [node, number] })
}
