// Joins a node to the others on one database. It is refused where answers would be wrong: another secret, hits in two
// places, or one node id twice.

import { readFileSync, statSync } from 'node:fs'
import { randomToken } from '../../lib/crypto/random.ts'
import { log } from '../../lib/log.ts'
import type { Database } from '../../storage/database/open-database.ts'
import type { Nodes } from '../../storage/database/tables/cluster-tables.ts'
import { verifySecret } from './instance.ts'
import {
  deleteOldNodes,
  listLiveNodes,
  lockJoining,
  type NodeFacts,
  type SharedSettings,
  storeNode,
} from './node-row.ts'

/** A node that was killed is silent by then, and one that stops in order has left. */
const WAIT_MS = 10_000
const RETRY_MS = 200

export interface JoinNeeds extends Omit<NodeFacts, 'process' | 'place'> {
  db: Database
  now: () => number
  secret: string
  /** The directory that has the node id. */
  dir: string
  /** The time to wait for another node to end, when both cannot run together. */
  waitMs?: number
}

type Rival = Pick<Nodes, 'node' | 'version'>

/** @throws a sentence for the operator, when this node must not run together with another one */
export async function joinCluster(needs: JoinNeeds): Promise<NodeFacts> {
  const { node, version, hitStore, settings, isEmpty, dir } = needs
  const process = randomToken(12)
  const facts: NodeFacts = { node, process, place: readPlace(dir), version, hitStore, settings, isEmpty }
  const deadline = performance.now() + (needs.waitMs ?? WAIT_MS)
  for (let tries = 0; ; tries++) {
    const rivals = await tryToJoin(needs, facts)
    if (rivals.length === 0) return facts
    if (performance.now() > deadline) throw new Error(toRefusal(facts, rivals))
    if (tries === 0) log.info('waiting_for_the_end_of_another_server', { node: rivals[0]?.node })
    await Bun.sleep(RETRY_MS)
  }
}

/** Linux makes a new one at each start of the machine. */
const BOOT_ID = '/proc/sys/kernel/random/boot_id'

/**
 * Reads the machine and directory of a node, which tell a restart after a crash from a copy of the directory. Two
 * processes with the same place have the same directory, and its lock says that only one of them runs. A copy has
 * another place, also when it is a copy of the whole machine.
 * @returns undefined where the system does not tell
 */
function readPlace(dir: string): string | undefined {
  try {
    const { dev, ino } = statSync(dir, { bigint: true })
    return `${readFileSync(BOOT_ID, 'utf8').trim()} ${dev} ${ino}`
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return undefined
  }
}

/** @returns the nodes that prevent this one from joining; empty after it has joined */
function tryToJoin({ db, secret, now }: JoinNeeds, facts: NodeFacts): Promise<Rival[]> {
  return db.write(async (connection) => {
    await lockJoining(connection)
    await verifySecret(connection, secret)
    const live = await listLiveNodes(connection)
    const rivals = live.filter((other) => isRival(facts, other))
    if (rivals.length > 0) return rivals
    warnOfDifferences(facts, live)
    await deleteOldNodes(connection)
    await storeNode(connection, facts, now())
    return []
  })
}

/** Warns when nodes of one installation have different settings: a form or a link would then depend on the node. */
function warnOfDifferences({ node, settings }: NodeFacts, live: Nodes[]): void {
  for (const other of live.filter((row) => row.node !== node)) {
    const theirs: SharedSettings = JSON.parse(other.settings)
    for (const setting of listDifferences(settings, theirs)) {
      const [here, there] = [settings[setting], theirs[setting]]
      log.warn('settings_differ', { setting, here, there, otherNode: other.node })
    }
  }
}

/** Another release may not know a setting. That is no difference. */
const listDifferences = (here: SharedSettings, there: SharedSettings): string[] =>
  Object.keys(here).filter((setting) => setting in there && here[setting] !== there[setting])

/**
 * Hits in DuckDB belong to one node. The id of this node belongs to another process only when that runs elsewhere: here
 * the lock of the data directory says that it has ended.
 */
function isRival({ node, place, hitStore }: NodeFacts, other: Nodes): boolean {
  if (other.node === node) return place === undefined || other.place !== place
  return [hitStore, other.hit_store].includes('duckdb')
}

function toRefusal({ node }: NodeFacts, rivals: Rival[]): string {
  if (rivals.some((rival) => rival.node === node)) {
    return (
      `Another running server has the id of this one (node ${node}): one of their directories is a copy of the other. ` +
      'Give this server an empty DATA_DIR. If it takes the place of the other one, stop that first.'
    )
  }
  const others = rivals.map((rival) => `node ${rival.node}, version ${rival.version}`).join('; ')
  return (
    `Another Towpath server uses this PostgreSQL database (${others}), and hits in DuckDB belong to one server: each ` +
    'would report its own clicks only. Set CLICKHOUSE_URL on all servers, or stop the other one.'
  )
}
