// bun bench/fast-path.ts [another checkout]: redirects and API calls mixed over the pooled connections of a real nginx,
// with the fast path and without it, and with the fast path of another version of this repository if its checkout is
// named. Alternating rounds of one run, medians.

import { cpSync } from 'node:fs'
import { resolve } from 'node:path'
import { createKey } from '../server/features/accounts/access/keys.ts'
import { createWorkspace } from '../server/features/accounts/workspaces/create-workspace.ts'
import { openDatabase } from '../server/storage/database/open-database.ts'
import { canInstallPackages, installPackage } from '../tests/support/processes/debian-package.ts'
import { type LoadResult, load, redirectScript, requireWrk, USER_AGENT } from './load.ts'
import { median } from './median.ts'
import { readProcessorTime } from './processor-time.ts'
import { type Contender, freePort, launchNginx, seedLinks, startTowpath, TOWPATH_DIR } from './servers.ts'

const ROUNDS = 7
const SECONDS = 3
const LINKS = 1000
/** The share of API calls among all requests. */
const MIXES = [0, 0.001, 0.01, 0.1, 0.3]
/** A key may ask 300 times a minute, so many keys share the load. */
const KEYS = 1000

/** @returns API keys, each of a workspace of its own */
async function seed(): Promise<string[]> {
  const db = await openDatabase({ dataDir: TOWPATH_DIR })
  const needs = { db, now: Date.now }
  await seedLinks(db, LINKS)
  const keys: string[] = []
  for (let n = 0; n < KEYS; n++) {
    const { id } = await createWorkspace(needs, { name: 'bench', plan: 'enterprise' })
    keys.push((await createKey(needs, id, 'bench')).key)
  }
  await db.close()
  return keys
}

/** Redirects, of which a share is API calls instead. */
const createMixedScript = (share: number, keys: string[]) => `
${redirectScript(LINKS - 1)}
local redirect = request
local keys = { ${keys.map((key) => `"${key}"`).join(', ')} }
local k = 0
request = function()
  if math.random() >= ${share} then return redirect() end
  k = k % #keys + 1
  return wrk.format("GET", "/v1/links?limit=1", { ["User-Agent"] = "${USER_AGENT}", ["Authorization"] = "Bearer " .. keys[k] })
end
`

interface Server extends Contender {
  /** Where nginx passes requests on to the server. */
  proxyPort: number
}

async function startServers(): Promise<Server[]> {
  const other = process.argv[2]
  const wanted: { name: string; fastPath: string; checkout?: string }[] = [
    { name: 'fast path off', fastPath: 'off' },
    { name: 'fast path on', fastPath: 'on' },
    ...(other ? [{ name: 'the other checkout', fastPath: 'on', checkout: resolve(other) }] : []),
  ]
  const servers: Server[] = []
  for (const [i, { fastPath, ...which }] of wanted.entries()) {
    const dataDir = `${TOWPATH_DIR}-${i}`
    cpSync(TOWPATH_DIR, dataDir, { recursive: true })
    const environment = { FAST_PATH: fastPath, DATA_DIR: dataDir, TRUST_PROXY: '127.0.0.1' }
    const started = await startTowpath(environment, which)
    servers.push({ ...started, proxyPort: freePort() })
  }
  return servers
}

/** What nginx's manual shows for upstreams with keep-alive. */
const createProxyConfig = (servers: Server[]) =>
  servers
    .map(
      ({ port, proxyPort }) => `
        upstream towpath${port} { server 127.0.0.1:${port}; keepalive 32; }
        server {
          listen 127.0.0.1:${proxyPort};
          location / {
            proxy_pass http://towpath${port};
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_set_header Host $host;
            proxy_set_header X-Forwarded-For $remote_addr;
          }
        }`,
    )
    .join('\n')

interface Measured extends LoadResult {
  /** Microseconds of the server's processor time for each request. */
  processorUs: number
}

async function measure(server: Server, script: string): Promise<Measured> {
  const before = readProcessorTime(server.pid)
  const result = await load(server.proxyPort, { seconds: SECONDS, script })
  const spentNs = readProcessorTime(server.pid) - before
  return { ...result, processorUs: spentNs / 1000 / (result.perSecond * SECONDS) }
}

async function measureMix(servers: Server[], script: string, what: string): Promise<Measured[][]> {
  const results: Measured[][] = servers.map(() => [])
  // nginx's connections of the mix before are used up within this.
  for (const { proxyPort } of servers) await load(proxyPort, { seconds: 2, script })
  for (let round = 0; round < ROUNDS; round++) {
    for (let n = 0; n < servers.length; n++) {
      // Each server comes first as often as the others.
      const i = (n + round) % servers.length
      results[i]?.push(await measure(servers[i] as Server, script))
    }
    process.stderr.write(`${what}: round ${round + 1} of ${ROUNDS}\n`)
  }
  return results
}

function toRows(share: number, servers: Server[], results: Measured[][]): string[] {
  const off = results[0] as Measured[]
  return servers.map(({ name }, i) => {
    const rounds = results[i] as Measured[]
    const of = (metric: keyof Measured) => median(rounds.map((round) => round[metric]))
    const ratio = (metric: keyof Measured) =>
      median(rounds.map((round, n) => round[metric] / (off[n] as Measured)[metric])).toFixed(2)
    const cells = [
      `${share * 100} %`,
      name,
      Math.round(of('perSecond')).toLocaleString('en-US'),
      of('p50Ms').toFixed(2),
      of('p99Ms').toFixed(2),
      of('processorUs').toFixed(1),
      ratio('perSecond'),
      ratio('p99Ms'),
      ratio('processorUs'),
    ]
    return `| ${cells.join(' | ')} |`
  })
}

requireWrk()
if (!Bun.which('nginx') && canInstallPackages()) installPackage('nginx', 'install nginx.')
const keys = await seed()
const servers = await startServers()
const first = servers[0] as Server
const nginx = await launchNginx('nginx proxy', first.proxyPort, createProxyConfig(servers), 1)
try {
  const lines: string[] = []
  let failed = 0
  for (const share of MIXES) {
    const results = await measureMix(servers, createMixedScript(share, keys), `${share * 100} % API`)
    lines.push(...toRows(share, servers, results))
    failed += results.flat().reduce((sum, result) => sum + result.failed, 0)
  }
  process.stdout.write(
    [
      '| API calls | server | requests/s | p50 ms | p99 ms | µs a request | requests/s / off | p99 / off | µs / off |',
      '|---|---|---|---|---|---|---|---|---|',
      ...lines,
      '',
      `Failed requests: ${failed}`,
      '',
    ].join('\n'),
  )
} finally {
  await nginx.end()
  for (const server of servers) await server.end()
}
process.exit(0)
