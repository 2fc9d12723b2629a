// Nodes on one PostgreSQL: what they see of each other, who is refused, and who runs a job.

import { afterEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migratedDatabase } from '../../../tests/support/migrated-database.ts'
import { until } from '../../../tests/support/until.ts'
import { type DatabaseHandle, openDatabase } from '../../storage/database/open-database.ts'
import { type ClusterNode, type ClusterNodeNeeds, openClusterNode } from './cluster-node.ts'

const SECRET = 'a secret of forty characters, more or less'
const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

function newDirectory(): string {
  const dir = mkdtempSync(join(tmpdir(), 'towpath-node-'))
  ends.push(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

/** One database with several connections of its own for each node, as several processes have. */
async function newPlace() {
  const { url: databaseUrl, drop } = await migratedDatabase()
  ends.push(drop)
  const open = async () => {
    const db = await openDatabase({ dataDir: newDirectory(), databaseUrl })
    ends.push(() => db.close())
    return db
  }
  return { db: await open(), open }
}

/** A node with a clock and a mark of its own, which a test moves. */
async function openNode(db: DatabaseHandle, more: Partial<ClusterNodeNeeds> = {}) {
  const state = { shippedUntil: Number.POSITIVE_INFINITY, replaced: [] as string[] }
  const node: ClusterNode = await openClusterNode({
    db,
    node: `node-${crypto.randomUUID()}`,
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
  ends.push(() => node.close())
  return Object.assign(node, state, { state })
}

describe('a node', () => {
  test('sees the others, and how far their hits are shipped', async () => {
    const { db, open } = await newPlace()
    const first = await openNode(db)
    const second = await openNode(await open())
    await until('each to see the other', () => first.countOthers() === 1 && second.countOthers() === 1)
    const stop = Date.now()
    second.state.shippedUntil = stop
    await until('the mark of the second to stop', () => first.getOthersShippedUntil() === stop)
    expect(first.getOthersShippedUntil()).toBeLessThanOrEqual(stop)
  })
})
