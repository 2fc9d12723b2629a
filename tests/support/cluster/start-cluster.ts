// Starts several nodes as processes on one PostgreSQL and one ClickHouse, as docs/cluster.md describes it.

import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  adoptInstallation,
  createInstallation,
  type Installation,
  type ServerProcess,
} from '../../faults/server-process.ts'
import { type ClickHouseServer, startClickHouse } from '../clickhouse/clickhouse-server.ts'
import { type PostgresServer, startPostgres } from '../postgres/postgres-server.ts'

/** Three nodes show what two would hide: a third that has neither the click nor the form. */
const NODES = 3

export interface Cluster {
  postgres: PostgresServer
  clickHouse: ClickHouseServer
  /** The nodes that run, by number. A killed node stays in the list until it is started again. */
  nodes: ServerProcess[]
  /** API keys, each of another workspace. */
  keys: string[]
  /** The data directory of each node. */
  dataDirs: string[]
  /** Starts a node again, on its own data directory and its own port. */
  startNode(number: number): Promise<ServerProcess>
  /** The node for the nth request, as a balancer without memory chooses it. */
  pick(request: number): ServerProcess
  end(): Promise<void>
}

/** @param options `durable` keeps PostgreSQL's fsync on, for tests that count what survived a crash. */
export async function startCluster(
  workspaces: number,
  options: { durable?: boolean; environment?: Record<string, string> } = {},
): Promise<Cluster> {
  const [postgres, clickHouse] = await Promise.all([
    startPostgres({ durable: options.durable }),
    startClickHouse(),
  ])
  const first = await createInstallation(workspaces, postgres.url)
  const others = Array.from({ length: NODES - 1 }, () =>
    adoptInstallation(mkdtempSync(join(tmpdir(), 'towpath-node-')), first.keys, postgres.url),
  )
  const installations: Installation[] = [first, ...others]
  const environment = {
    CLICKHOUSE_URL: clickHouse.url,
    TOWPATH_SECRET: 'every node of the cluster has this one',
    TOWPATH_URL: 'http://go.example',
    TRUST_PROXY: '127.0.0.1',
    ...options.environment,
  }
  const nodes: ServerProcess[] = []
  const cluster: Cluster = {
    postgres,
    clickHouse,
    nodes,
    keys: first.keys,
    dataDirs: installations.map(({ dataDir }) => dataDir),
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
