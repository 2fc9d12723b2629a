// The tables in ClickHouse, and their migration from earlier layouts. A database belongs to one installation of Towpath.

import { log } from '../../../lib/log.ts'
import { toClosedNamesSql } from '../closed-names-sql.ts'
import type { Hit } from '../hit.ts'
import { HIT_COLUMNS } from '../hit-columns.ts'
import { CLICKHOUSE_CODES, ClickHouseError } from './clickhouse-error.ts'
import type { ClickHouseClient } from './client.ts'
import { escapeText, toPlaceholder } from './parameters.ts'

/** The type of each column of layout 1. LowCardinality is a dictionary: these texts repeat. */
const HIT_TYPES: Omit<Record<keyof Hit, string>, 'importId' | 'variant' | 'params'> = {
  id: 'Int64 CODEC(ZSTD)',
  // Neighbors are of one day and differ by hours: T64 leaves out the bits that they share. Every question reads this
  // column, the workspace and the visitor, so these have codecs that are fast to read.
  at: 'Int64 CODEC(T64, ZSTD)',
  workspaceId: 'Int64 CODEC(LZ4)',
  linkId: 'Int64 CODEC(ZSTD)',
  outcome: 'LowCardinality(String)',
  class: 'LowCardinality(String)',
  trigger: 'LowCardinality(String)',
  // The hits of a visitor's day are neighbors.
  visitor: 'UInt64 CODEC(LZ4)',
  country: 'LowCardinality(Nullable(String)) CODEC(ZSTD)',
  region: 'LowCardinality(Nullable(String)) CODEC(ZSTD)',
  city: 'LowCardinality(Nullable(String)) CODEC(ZSTD)',
  continent: 'LowCardinality(Nullable(String)) CODEC(ZSTD)',
  device: 'LowCardinality(Nullable(String)) CODEC(ZSTD)',
  browser: 'LowCardinality(Nullable(String)) CODEC(ZSTD)',
  os: 'LowCardinality(Nullable(String)) CODEC(ZSTD)',
  referrer: 'LowCardinality(Nullable(String)) CODEC(ZSTD)',
  referrerUrl: 'Nullable(String) CODEC(ZSTD)',
  utmSource: 'LowCardinality(Nullable(String)) CODEC(ZSTD)',
  utmMedium: 'LowCardinality(Nullable(String)) CODEC(ZSTD)',
  utmCampaign: 'LowCardinality(Nullable(String)) CODEC(ZSTD)',
  utmTerm: 'LowCardinality(Nullable(String)) CODEC(ZSTD)',
  utmContent: 'LowCardinality(Nullable(String)) CODEC(ZSTD)',
  unknownSlug: 'Nullable(String) CODEC(ZSTD)',
}

const columns = Object.entries(HIT_TYPES).map(([field, type]) => `${HIT_COLUMNS[field as keyof Hit]} ${type}`)
const ORDER = 'workspace_id, intDiv(recorded_at, 86400000), visitor'

/** ClickHouse recognizes a repeated batch among this many newest blocks: 4 minutes at 40 batches a second. */
export const DEDUPLICATION_WINDOW = 10_000

/** Returns the name of a table engine for its kind, such as `MergeTree`. */
type EngineNaming = (kind: string) => string
const toReplicated: EngineNaming = (kind) => `Replicated${kind}`

/**
 * The statements that each layout adds to the previous one. A released layout never changes. Each statement must be safe to
 * run twice: ClickHouse has no transactions, and several nodes can start at once.
 */
const LAYOUTS: ((engine: EngineNaming) => string[])[] = [
  (engine) => [
    // Synced, because the file of a loaded batch may be deleted, and the batch must survive a power cut.
    `CREATE TABLE IF NOT EXISTS hits (node LowCardinality(String), ${columns.join(', ')})
     ENGINE = ${engine('MergeTree')}
     PARTITION BY toYYYYMM(fromUnixTimestamp64Milli(recorded_at, 'UTC'))
     PRIMARY KEY (${ORDER}) ORDER BY (${ORDER}, recorded_at, node, id)
     SETTINGS non_replicated_deduplication_window = ${DEDUPLICATION_WINDOW},
       replicated_deduplication_window = ${DEDUPLICATION_WINDOW}, replicated_deduplication_window_seconds = 604800,
       fsync_after_insert = 1, fsync_part_directory = 1`,
    `CREATE TABLE IF NOT EXISTS hit_marks (node String, batch Int64)
     ENGINE = ${engine('ReplacingMergeTree')}(batch) ORDER BY node
     SETTINGS fsync_after_insert = 1, fsync_part_directory = 1`,
  ],
  () => ['ALTER TABLE hits ADD COLUMN IF NOT EXISTS import_id Nullable(Int64) CODEC(ZSTD)'],
  // This layout had tables of roll-ups.
  () => [],
  // Replaces names of browsers that are texts of visitors: see `closeOldNames`.
  () => [],
  () => ['ALTER TABLE hits ADD COLUMN IF NOT EXISTS variant LowCardinality(Nullable(String)) CODEC(ZSTD)'],
  // Its texts can differ from click to click, so it has no dictionary.
  () => ['ALTER TABLE hits ADD COLUMN IF NOT EXISTS params Nullable(String) CODEC(ZSTD)'],
]

/** Every statement that creates the tables in a replicated database. */
export const listReplicatedStatements = () => LAYOUTS.flatMap((layout) => layout(toReplicated))

/** Tables of an earlier release with sums of hits, also of erased workspaces. */
const ROLL_UP_TABLES =
  'days slots links values urls people mixed month_links month_values month_urls month_people'
    .concat(' marks month_marks touches intents loaders steps')
    .split(' ')
    .map((name) => `roll_${name}`)

/** Runs at each start, because a node of the earlier release creates the tables again while a cluster is upgraded. */
async function dropRollUpTables(client: ClickHouseClient): Promise<void> {
  const found = await client.select(
    `SELECT name FROM system.tables WHERE database = currentDatabase() AND name IN ${toPlaceholder(1, ROLL_UP_TABLES)}`,
    { params: [ROLL_UP_TABLES] },
  )
  for (const [name] of found)
    try {
      await client.execute(`DROP TABLE IF EXISTS ${name} SETTINGS max_table_size_to_drop = 0`)
    } catch (error) {
      if (!(error instanceof ClickHouseError && error.code === CLICKHOUSE_CODES.accessDenied)) throw error
      // If the right to drop the table is missing, empty it: the rights in docs/clickhouse.md are enough for that.
      await client.execute(`ALTER TABLE ${name} DROP PARTITION ALL SETTINGS max_partition_size_to_drop = 0`)
    }
}

/** The first layout whose hits have names of closed lists only. */
const CLOSED_NAMES_LAYOUT = 4

/** Starts a mutation, which ClickHouse runs in the background. The start of the server does not wait for it. */
async function closeOldNames(client: ClickHouseClient): Promise<void> {
  const { isOpen, assignments } = toClosedNamesSql((text) => `'${text}'`)
  const statement = `ALTER TABLE hits UPDATE ${assignments} WHERE ${isOpen}`
  try {
    await client.execute(`${statement} SETTINGS mutations_sync = 0`)
  } catch (error) {
    if (!(error instanceof ClickHouseError && error.code === CLICKHOUSE_CODES.accessDenied)) throw error
    log.warn('hits.names_not_closed', {
      remedy: 'GRANT ALTER UPDATE, and run the statement once as UPGRADING.md says',
      statement,
    })
  }
}

/** The table with the layout's number and the owner of the tables. */
const LAYOUT_TABLE = 'hit_layout'
/** The table's comment begins with it, and goes on with the name of the installation that made the table. */
const OWNER = 'Towpath installation '

/**
 * Brings the database to the newest layout.
 * @param instance the name of this installation; it is written to a database without a name
 * @throws a sentence for a layout of a newer release and for the database of another installation, which do not change
 */
export async function migrateTables(client: ClickHouseClient, instance = ''): Promise<void> {
  const before = await readLayout(client)
  requireUsable(before, instance)
  await dropRollUpTables(client)
  if (before.version === LAYOUTS.length && (before.instance !== '' || instance === '')) return
  const engine = await readEngineNaming(client)
  // Two installations may start at once: the one that makes the table gets the database. A row that one of them inserts
  // may have an earlier time than one that is read already.
  await client.execute(
    `CREATE TABLE IF NOT EXISTS ${LAYOUT_TABLE} (version Int64, instance String, applied_at DateTime64(3))
     ENGINE = ${engine('MergeTree')} ORDER BY applied_at COMMENT '${escapeText(OWNER + instance)}'`,
  )
  requireUsable(await readLayout(client), instance)
  for (const layout of LAYOUTS.slice(before.version))
    for (const statement of layout(engine)) await client.execute(statement)
  if (before.version > 0 && before.version < CLOSED_NAMES_LAYOUT) await closeOldNames(client)
  const sql = `INSERT INTO ${LAYOUT_TABLE} SELECT {p1:Int64}, {p2:String}, now64(3)`
  await client.execute(sql, { params: [LAYOUTS.length, instance] })
  // A database without a name gets it from the first row that has one.
  requireUsable(await readLayout(client), instance)
}

/** @returns a sentence when the database is not for this installation, or not for this release */
export const findLayoutProblem = async (
  client: ClickHouseClient,
  instance = '',
): Promise<string | undefined> => explainLayout(await readLayout(client), instance)

interface Layout {
  /** 0 without tables. */
  version: number
  /** The installation of the hits; '' if no name is stored. */
  instance: string
}

function requireUsable(layout: Layout, instance: string): void {
  const problem = explainLayout(layout, instance)
  if (problem !== undefined) throw new Error(problem)
}

function explainLayout({ version, instance: owner }: Layout, instance: string): string | undefined {
  if (version > LAYOUTS.length)
    return `The ClickHouse database has layout ${version} of a newer version of Towpath, and this version knows ${LAYOUTS.length}: start the newer version.`
  if (owner !== '' && instance !== '' && owner !== instance)
    return 'The ClickHouse database has the hits of another installation of Towpath: name an empty database in CLICKHOUSE_URL.'
  return undefined
}

async function readLayout(client: ClickHouseClient): Promise<Layout> {
  const [table] = await client.select(
    'SELECT comment FROM system.tables WHERE database = currentDatabase() AND name = {p1:String}',
    { params: [LAYOUT_TABLE] },
  )
  if (!table) return { version: 0, instance: '' }
  const comment = String(table[0])
  const maker = comment.startsWith(OWNER) ? comment.slice(OWNER.length) : ''
  const sql = `SELECT max(version), argMinIf(instance, (applied_at, instance), instance != '') FROM ${LAYOUT_TABLE}`
  const [[version, first] = []] = await client.select(sql)
  return { version: Number(version), instance: maker || String(first) }
}

/** A database that replicates its tables names their paths itself. ClickHouse Cloud replicates every MergeTree. */
async function readEngineNaming(client: ClickHouseClient): Promise<EngineNaming> {
  const [[engine] = []] = await client.select(
    'SELECT engine FROM system.databases WHERE name = currentDatabase()',
  )
  return engine === 'Replicated' ? toReplicated : (kind) => kind
}
