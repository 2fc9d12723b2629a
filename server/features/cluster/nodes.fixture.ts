// Nodes on one PostgreSQL for tests, each with connections of its own, as processes have.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type RawBuilder, sql } from 'kysely'
import { migratedDatabase } from '../../../tests/support/migrated-database.ts'
import { type DatabaseHandle, openDatabase } from '../../storage/database/open-database.ts'
import { type ClusterNodeNeeds, openClusterNode } from './cluster-node.ts'

export const SECRET = 'a secret of forty characters, more or less'

/** `end` stops everything that a test has started, last first. */
export function createNodesFixture() {
  const ends: (() => unknown)[] = []

  function newDirectory(): string {
    const dir = mkdtempSync(join(tmpdir(), 'towpath-node-'))
    ends.push(() => rmSync(dir, { recursive: true, force: true }))
    return dir
  }

  async function openConnection(databaseUrl: string): Promise<DatabaseHandle> {
    const db = await openDatabase({ dataDir: newDirectory(), databaseUrl })
    ends.push(() => db.close())
    return db
  }

  /** Every hit of the node is shipped until a test sets `state.shippedUntil`. */
  async function openNode(databaseUrl: string, more: Partial<ClusterNodeNeeds> = {}) {
    const state = { shippedUntil: Number.POSITIVE_INFINITY, replaced: [] as string[] }
    const id = more.node ?? `node-${crypto.randomUUID()}`
    const cluster = await openClusterNode({
      db: more.db ?? (await openConnection(databaseUrl)),
      node: id,
      dir: newDirectory(),
      isEmpty: true,
      version: '1.0.0',
      hitStore: 'clickhouse',
      settings: {},
      secret: SECRET,
      now: Date.now,
      getShippedUntil: () => Math.min(state.shippedUntil, Date.now()),
      onReplaced: (sentence) => state.replaced.push(sentence),
      beatMs: 20,
      waitMs: 0,
      ...more,
    })
    let closing: Promise<void> | undefined
    const close = () => {
      closing ??= cluster.close()
      return closing
    }
    ends.push(close)
    return { ...cluster, close, id, state }
  }

  /** A database, and what a test does to it by hand. */
  async function openPlace() {
    const { url } = await migratedDatabase()
    const db = await openConnection(url)
    const change = (statement: RawBuilder<unknown>) => db.write((connection) => statement.execute(connection))
    return {
      url,
      db,
      change,
      findRow: (node: string) =>
        db.read.selectFrom('nodes').selectAll().where('node', '=', node).executeTakeFirst(),
      /** As if the node had been killed: no process beats for its row. */
      kill: (node: string) => change(sql`update nodes set process = 'nobody' where node = ${node}`),
      /** Lets time pass for the row of a node. */
      age: (node: string, ms: number) =>
        change(sql`update nodes set seen_at = seen_at - ${ms}::bigint where node = ${node}`),
    }
  }

  return {
    newDirectory,
    openConnection,
    openNode,
    openPlace,
    async end() {
      for (const end of ends.splice(0).reverse()) await end()
    },
  }
}
