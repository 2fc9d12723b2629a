// The embedded hit engine: one DuckDB file, in this process. Fed batch by batch, each with its number in the same
// transaction, so that a batch counts once however often it is offered.

import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import {
  BIGINT,
  type DuckDBConnection,
  type DuckDBInstance,
  type DuckDBType,
  type DuckDBValue,
  LIST,
  listValue,
  VARCHAR,
} from '@duckdb/node-api'
import { describeError, log } from '../../lib/log.ts'
import { openReaders, queue } from './duckdb-connections.ts'
import { copyDurably, openDuckDbFile, unreadable } from './duckdb-open.ts'
import type { Batch, HitAnswer, HitEngine, HitQuery } from './engine.ts'
import type { Hit } from './hit.ts'
import { duckDbDialect, hitSql, type SqlValue } from './sql.ts'

/** A question that takes longer holds up the others; the worst measured one on 50 million hits took 1.5 s. */
const ASK_TIMEOUT_MS = 30_000

/** Where each part of a hit is kept. Text, not ENUM: dictionary compression makes them equal, without migrations. */
const HIT_COLUMNS: Record<keyof Hit, [column: string, type: string]> = {
  id: ['id', 'BIGINT NOT NULL'],
  // Milliseconds as they come: buckets are arithmetic (sql.ts), and integers compress best.
  at: ['recorded_at', 'BIGINT NOT NULL'],
  workspaceId: ['workspace_id', 'BIGINT NOT NULL'],
  linkId: ['link_id', 'BIGINT NOT NULL'],
  outcome: ['outcome', 'VARCHAR NOT NULL'],
  class: ['class', 'VARCHAR NOT NULL'],
  trigger: ['trigger', 'VARCHAR NOT NULL'],
  visitor: ['visitor', 'UBIGINT NOT NULL'],
  country: ['country', 'VARCHAR'],
  region: ['region', 'VARCHAR'],
  city: ['city', 'VARCHAR'],
  continent: ['continent', 'VARCHAR'],
  device: ['device', 'VARCHAR'],
  browser: ['browser', 'VARCHAR'],
  os: ['os', 'VARCHAR'],
  referrer: ['referrer', 'VARCHAR'],
  referrerUrl: ['referrer_url', 'VARCHAR'],
  utmSource: ['utm_source', 'VARCHAR'],
  utmMedium: ['utm_medium', 'VARCHAR'],
  utmCampaign: ['utm_campaign', 'VARCHAR'],
  utmTerm: ['utm_term', 'VARCHAR'],
  utmContent: ['utm_content', 'VARCHAR'],
  unknownSlug: ['unknown_slug', 'VARCHAR'],
}

const columns = Object.values(HIT_COLUMNS)
// No primary key: its index would cost memory per hit, and the marks already keep batches from counting twice.
const CREATE = [
  `CREATE TABLE IF NOT EXISTS hits (node VARCHAR NOT NULL, ${columns.map((each) => each.join(' ')).join(', ')})`,
  'CREATE TABLE IF NOT EXISTS marks (node VARCHAR NOT NULL, batch BIGINT NOT NULL)',
]

const fields = Object.entries(HIT_COLUMNS).map(([field, [, type]]) => `"${field}": '${type.split(' ')[0]}'`)
const quoted = Object.keys(HIT_COLUMNS).map((field) => `"${field}"`)
const INSERT = `INSERT INTO hits (node, ${columns.map(([name]) => name).join(', ')})
  SELECT $1, ${quoted.join(', ')}
  FROM read_json($2, format = 'newline_delimited', maximum_object_size = 1048576, columns = {${fields.join(', ')}})`

export interface DuckDbOptions {
  path: string
  memoryLimitMb?: number
  /** One: small questions are as fast as with two, and redirects keep a core. */
  threads?: number
  /** The only directory that batches may be read from; by default the one the database is in. */
  batchDir?: string
}

/**
 * A fatal error (a full disk during a checkpoint, say) leaves every later statement failing; only closing and opening
 * again helps. The batch on which it happened may be in: ask for the mark before offering it again.
 */
export const isEngineDead = (error: unknown): boolean =>
  error instanceof Error &&
  (/^FATAL Error|database has been invalidated/i.test(error.message) || isDamage(error))

const isDamage = (error: unknown) => error instanceof Error && /corrupt database file/i.test(error.message)

/** Opens the file, or what is left of it (see duckdb-open.ts). Only one process may have it open. */
export async function openDuckDb(options: DuckDbOptions): Promise<HitEngine> {
  const path = resolve(options.path)
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const { memoryLimitMb = 256, threads = 1, batchDir = dirname(path) } = options
  const instance = await openDuckDbFile({ path, memoryLimitMb, threads, batchDir }, prepare)
  const writer = await instance.connect()
  const inTurn = queue()
  const readers = await openReaders(instance)
  let damage: unknown
  /** Once damage was seen nothing is answered any more, so that whoever keeps the engine opens it again. */
  const watched = async <T>(work: () => Promise<T>): Promise<T> => {
    if (damage) throw damage
    try {
      return await work()
    } catch (error) {
      if (isDamage(error)) {
        damage = error
        writeFileSync(unreadable(path), String(error))
      }
      throw error
    }
  }
  const write = <T>(work: () => Promise<T>) => watched(() => inTurn(work))
  return {
    mark: (node) => write(() => readMark(writer, node)),
    load: (batch) => write(() => load(writer, batch)),
    skip: (node, through) =>
      write(() =>
        transact(writer, async () => {
          if ((await readMark(writer, node)) < through) await writeMark(writer, node, through)
        }),
      ),
    ask: (query) => watched(() => readers.use((connection) => ask(connection, query))),
    backup: (to) =>
      write(async () => {
        // The writer's turn: nothing changes the file between these two.
        await writer.run('CHECKPOINT')
        await copyDurably(path, to)
      }),
    async close() {
      await readers.close()
      await inTurn(async () => {
        try {
          await writer.run('CHECKPOINT')
        } catch (error) {
          // Nothing is lost: the log is replayed when the file is opened again.
          log.error('hits.checkpoint_failed', describeError(error))
        }
        writer.closeSync()
        instance.closeSync()
      })
    },
  }
}

async function prepare(instance: DuckDBInstance, thorough: boolean) {
  const connection = await instance.connect()
  try {
    const existing = await connection.runAndReadAll('SELECT count(*) FROM duckdb_tables()')
    if (Number(existing.getRows()[0]?.[0]) < CREATE.length) {
      for (const statement of CREATE) await connection.run(statement)
      // Replaying a logged CREATE has failed before (duckdb#19712, #22044), so it never stays in the log.
      await connection.run('CHECKPOINT')
    }
    await connection.run('SELECT count(*) FROM hits')
    await connection.run('SELECT max(batch) FROM marks')
    // A hash needs every value; minima and counts are answered from statistics.
    if (thorough)
      await connection.run(`SELECT bit_xor(hash(${columns.map(([name]) => name).join(', ')})) FROM hits`)
  } finally {
    connection.closeSync()
  }
}

async function load(writer: DuckDBConnection, { node, number, path }: Batch) {
  await transact(writer, async () => {
    const mark = await readMark(writer, node)
    if (number <= mark) return
    if (number !== mark + 1) throw new Error(`Batch ${number} of ${node} does not follow batch ${mark}`)
    await writer.run(INSERT, [node, resolve(path)])
    await writeMark(writer, node, number)
  })
}

async function readMark(writer: DuckDBConnection, node: string): Promise<number> {
  const found = await writer.runAndReadAll('SELECT max(batch) FROM marks WHERE node = $1', [node])
  return Number(found.getRows()[0]?.[0] ?? 0)
}

async function writeMark(writer: DuckDBConnection, node: string, number: number) {
  await writer.run('DELETE FROM marks WHERE node = $1', [node])
  await writer.run('INSERT INTO marks VALUES ($1, $2)', [node, BigInt(number)])
}

async function transact(writer: DuckDBConnection, work: () => Promise<void>) {
  await writer.run('BEGIN TRANSACTION')
  try {
    await work()
  } catch (error) {
    // A dead engine cannot roll back either, and has nothing to. The first error is the one to tell.
    await writer.run('ROLLBACK').catch((second) => log.warn('hits.rollback_failed', describeError(second)))
    throw error
  }
  // A commit that fails has rolled back by itself, or was fatal; then only the mark knows (see isEngineDead).
  await writer.run('COMMIT')
}

async function ask(connection: DuckDBConnection, query: HitQuery): Promise<HitAnswer[]> {
  const { text, params, key } = hitSql(query, duckDbDialect)
  const types = params.map(typeOf)
  const timer = setTimeout(() => connection.interrupt(), ASK_TIMEOUT_MS)
  try {
    const answer = await connection.runAndReadAll(text, params.map(bindable), types)
    return answer.getRows().map(([cell, clicks, visitors]) => ({
      key: key(cell),
      clicks: Number(clicks),
      visitors: Number(visitors),
    }))
  } finally {
    clearTimeout(timer)
  }
}

function typeOf(value: SqlValue): DuckDBType {
  if (Array.isArray(value)) return LIST(typeof value[0] === 'string' ? VARCHAR : BIGINT)
  return typeof value === 'string' ? VARCHAR : BIGINT
}

function bindable(value: SqlValue): DuckDBValue {
  const one = (each: string | number) => (typeof each === 'number' ? BigInt(each) : each)
  return Array.isArray(value) ? listValue(value.map(one)) : one(value)
}
