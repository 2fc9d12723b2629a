// Measures what the change feed costs PostgreSQL: bun bench/change-feed.ts. Links are created with the rows of the feed
// and three nodes that poll them, and without both, in alternating rounds of one run. The disk is synced.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createWorkspace } from '../server/features/accounts/workspaces/create-workspace.ts'
import { openChangeFeed } from '../server/features/cluster/change-feed.ts'
import { createLink } from '../server/features/links/create.ts'
import { type Database, type DatabaseHandle, openDatabase } from '../server/storage/database/open-database.ts'
import { startPostgres } from '../tests/support/postgres/postgres-server.ts'
import { median } from './median.ts'
import { formatVerdict } from './verdict.ts'

const ROUNDS = 40
const NODES = 3
const SENDERS = 16
const LINKS = 300
const WANTED = 0.9

/** The same database without the rows of changes. */
const withoutChanges = (db: Database): Database => ({
  ...db,
  write: (body) =>
    db.write((connection, onCommit) =>
      body(connection, (effect) => typeof effect === 'function' && onCommit(effect)),
    ),
})

/** As often as a node polls PostgreSQL. */
const POLL_MS = 250

/** Feeds that poll only while `work` runs: their start reads the rows of two minutes. */
async function openNodes(databases: DatabaseHandle[]) {
  const nothing = () => {}
  const caches = { invalidateLink: nothing, invalidateWorkspace: nothing, invalidateAll: nothing }
  const feeds = await Promise.all(databases.map((db) => openChangeFeed({ db, ...caches, everyMs: 1e9 })))
  return {
    async poll<T>(work: () => Promise<T>): Promise<T> {
      const timers = feeds.map((feed) => setInterval(feed.poll, POLL_MS))
      const result = await work()
      for (const timer of timers) clearInterval(timer)
      return result
    },
    async close() {
      for (const feed of feeds) await feed.close()
    },
  }
}

/** @returns commits per second */
async function createLinks(db: Database, workspaceId: number): Promise<number> {
  const origin = 'https://go.example'
  const site = {
    origin,
    domain: 'go.example',
    reserved: new Set<string>(),
    reservedOnDomains: new Set<string>(),
    names: new Set<string>(),
    ownHosts: [],
    isShortHost: () => false,
    isOwnHost: () => true,
    schemes: [],
    isBlocked: () => false,
  }
  const actor = { kind: 'operator', workspaceId, plan: 'enterprise', keyId: null } as const
  const startedAt = performance.now()
  let left = LINKS
  const send = async () => {
    while (left-- > 0)
      await createLink({ db, site, now: Date.now }, actor, { destinationUrl: 'https://example.com/' })
  }
  await Promise.all(Array.from({ length: SENDERS }, send))
  return (LINKS / (performance.now() - startedAt)) * 1000
}

const dataDir = mkdtempSync(join(tmpdir(), 'towpath-bench-'))
const postgres = await startPostgres({ durable: true })
const open = () => openDatabase({ dataDir, databaseUrl: postgres.url })
const databases = [await open(), await open(), await open()].slice(0, NODES)
try {
  const db = databases[0] as DatabaseHandle
  const { id } = await createWorkspace({ db, now: Date.now }, { name: 'Bench', plan: 'enterprise' })
  const nodes = await openNodes(databases)
  const withFeed = () => nodes.poll(() => createLinks(db, id))
  const withoutFeed = () => createLinks(withoutChanges(db), id)
  for (let warmUp = 0; warmUp < 3; warmUp++) for (const run of [withFeed, withoutFeed]) await run()
  const pairs: { on: number; off: number }[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const first = round % 2 === 0 ? await withFeed() : undefined
    const off = await withoutFeed()
    pairs.push({ on: first ?? (await withFeed()), off })
  }
  await nodes.close()
  const ratio = median(pairs.map(({ on, off }) => on / off))
  const shown = (rates: number[]) => Math.round(median(rates)).toLocaleString('en-US')
  process.stdout.write(
    [
      `| ${SENDERS} senders | links/s | with the feed / without | |`,
      '|---|---|---|---|',
      `| without the feed | ${shown(pairs.map(({ off }) => off))} | | |`,
      `| rows, and ${NODES} nodes that poll | ${shown(pairs.map(({ on }) => on))} | ${ratio.toFixed(2)} | at least ${WANTED}: ${formatVerdict(ratio >= WANTED)} |`,
      '',
    ].join('\n'),
  )
} finally {
  for (const db of databases) await db.close()
  await postgres.end()
  rmSync(dataDir, { recursive: true, force: true })
}
process.exit(0)
