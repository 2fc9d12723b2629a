// Starts several nodes on one PostgreSQL: as processes, with ClickHouse, as docs/cluster.md describes it, or in the process
// of the test, without it.

import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '../../../server/storage/database/open-database.ts'
import {
  adoptInstallation,
  createClient,
  createInstallation,
  createKeys,
  type Installation,
  type ServerClient,
  type ServerProcess,
} from '../../faults/server-process.ts'
import {
  CLICKHOUSE_START_MS,
  type ClickHouseServer,
  startClickHouse,
} from '../clickhouse/clickhouse-server.ts'
import { migratedDatabase } from '../migrated-database.ts'
import { type PostgresServer, startPostgres } from '../postgres/postgres-server.ts'
import { startServer } from '../world.ts'

/** How long `startCluster` may take. */
export const CLUSTER_START_MS = CLICKHOUSE_START_MS
/** Three nodes, because faults can need a third node that has neither the click nor the form. */
const NODES = 3

/** Nodes, however they run. */
export interface Nodes<Node extends ServerClient = ServerClient> {
  databaseUrl: string
  nodes: Node[]
  /** API keys, each of another workspace. */
  keys: string[]
  /** The node for the nth request, as a balancer without memory chooses it. */
  pick(request: number): Node
  end(): Promise<void>
}

/** A killed node stays in the list of nodes until it is started again. */
export interface Cluster extends Nodes<ServerProcess> {
  postgres: PostgresServer
  clickHouse: ClickHouseServer
  /** Starts a node again, on its own data directory and its own port. */
  startNode(number: number): Promise<ServerProcess>
}

interface ClusterOptions {
  /** Keeps PostgreSQL's fsync on, for tests that count what survived a crash. */
  durable?: boolean
  environment?: Record<string, string>
}

const ENVIRONMENT = {
  TOWPATH_SECRET: 'every node of the cluster has this one',
  TOWPATH_URL: 'http://go.example',
  TRUST_PROXY: '127.0.0.1',
}
/** Nobody listens there: hits wait in the spool of their node. */
const NO_CLICKHOUSE = 'http://127.0.0.1:9/towpath'

export async function startNodes(workspaces: number, { environment }: ClusterOptions = {}): Promise<Nodes> {
  const { url } = await migratedDatabase()
  const db = await openDatabase({ dataDir: tmpdir(), databaseUrl: url })
  // An outage prevents only the first start of an installation, before it has counted hits.
  const counted = { node: 'gone', batch: 1 }
  await db.write((connection) => connection.insertInto('click_marks').values(counted).execute())
  await db.close()
  const all = { ...ENVIRONMENT, ...environment, DATABASE_URL: url, CLICKHOUSE_URL: NO_CLICKHOUSE }
  const servers = await Promise.all(
    Array.from({ length: NODES }, () => startServer('sqlite', { environment: all })),
  )
  const [{ dataDir }] = servers as [(typeof servers)[number]]
  const nodes = servers.map(({ origin }) => createClient(origin))
  return {
    databaseUrl: url,
    nodes,
    keys: await createKeys({ dataDir, databaseUrl: url }, workspaces),
    pick: (request) => nodes[request % NODES] as ServerClient,
    end: async () => void (await Promise.all(servers.map((server) => server.close()))),
  }
}

export async function startCluster(workspaces: number, options: ClusterOptions = {}): Promise<Cluster> {
  const [postgres, clickHouse] = await Promise.all([
    startPostgres({ durable: options.durable }),
    startClickHouse(),
  ])
  const first = await createInstallation(workspaces, postgres.url)
  const others = Array.from({ length: NODES - 1 }, () =>
    adoptInstallation(mkdtempSync(join(tmpdir(), 'towpath-node-')), first.keys, postgres.url),
  )
  const installations: Installation[] = [first, ...others]
  const environment = { CLICKHOUSE_URL: clickHouse.url, ...ENVIRONMENT, ...options.environment }
  const nodes: ServerProcess[] = []
  const cluster: Cluster = {
    postgres,
    databaseUrl: postgres.url,
    clickHouse,
    nodes,
    keys: first.keys,
    async startNode(number) {
      const installation = installations[number] as Installation
      const before = nodes[number]
      const port = before && Number(new URL(before.origin).port)
      const node = await installation.start({ environment, port })
      nodes[number] = node
      return node
    },
    pick: (request) => nodes[request % NODES] as ServerProcess,
    async end() {
      await Promise.all(installations.map((installation) => installation.end()))
      await Promise.all([postgres.end(), clickHouse.end()])
    },
  }
  try {
    // All at once, as after a power failure: they also race to migrate.
    await Promise.all(installations.map((_, number) => cluster.startNode(number)))
  } catch (error) {
    await cluster.end()
    throw error
  }
  return cluster
}
