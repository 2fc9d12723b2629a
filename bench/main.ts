// Measures redirects beside bare servers, links that decide, a workspace's domain and page views: npm run bench [-- <another checkout>]
// [--rounds=7] [--seconds=2] [--links=100000]. Absolute figures depend on the machine and its other load, ratios much less.

import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findFreePort } from '../tests/support/processes/free-port.ts'
import {
  type Contender,
  finish,
  HOME,
  LOAD_COLUMNS,
  type LoadResult,
  launch,
  listVersions,
  load,
  medianRatio,
  postScript,
  ROOT,
  readOptions,
  redirectScript,
  runRounds,
  seed,
  seedDomain,
  seedLinks,
  spawnOn,
  startTowpath,
  sumOf,
  toLoadCells,
  toTable,
} from './harness.ts'

const options = readOptions({ rounds: 7, seconds: 2, links: 100_000 })
/** As long as each other: one byte more or less must not decide. */
const [DEFAULT, OWN] = ['go.bench.example', 'go.other.example']

/** Rules of every kind that none of the requests matches, so that all are read, and then a split. */
const DECIDING = {
  prefix: 'decide',
  rules: JSON.stringify(
    Array.from({ length: 20 }, (_, n) => ({
      when: [
        { language: [['de', 'fr', 'es', 'it', 'nl'][n % 5]] },
        { os: ['windows', 'macos'], device: ['desktop'] },
        { query: { ref: `partner${n}` } },
        { country: ['DE', 'AT', 'CH'], device: ['tablet'] },
        { before: '2020-01-01T00:00:00.000Z' },
      ][n % 5],
      to: `https://example.com/rule/${n}`,
    })),
  ),
  split: JSON.stringify(
    [50, 30, 20].map((weight, n) => ({ url: `https://example.com/${n}`, weight, label: 'ABC'[n] })),
  ),
}

/** Bun's own server with a constant redirect: no look-up, no recording. */
function startBareBun(): Promise<Contender> {
  const [port, script] = [findFreePort(), join(HOME, 'bare.ts')]
  writeFileSync(
    script,
    `Bun.serve({ port: ${port}, hostname: '127.0.0.1', fetch: () =>
      new Response(null, { status: 302, headers: { Location: 'https://example.com/landing' } }) })`,
  )
  return launch('bare Bun.serve', port, spawnOn(0, [script]))
}

/** nginx, one worker, with a constant redirect; undefined where nginx is not installed. */
async function startNginx(): Promise<Contender | undefined> {
  const program = [Bun.which('nginx'), '/usr/sbin/nginx'].find((path) => path && existsSync(path))
  if (!program) return undefined
  const [port, dir] = [findFreePort(), join(HOME, 'nginx')]
  mkdirSync(dir)
  writeFileSync(
    join(dir, 'nginx.conf'),
    `daemon off; master_process off; pid ${dir}/pid; error_log ${dir}/error.log;
     events { worker_connections 1024; }
     http { access_log off; client_body_temp_path ${dir}; proxy_temp_path ${dir}; fastcgi_temp_path ${dir};
       uwsgi_temp_path ${dir}; scgi_temp_path ${dir}; keepalive_requests 1000000000;
       server { listen 127.0.0.1:${port}; return 302 https://example.com/landing; } }`,
  )
  return launch('nginx return 302', port, spawnOn(0, [program, '-p', dir, '-c', join(dir, 'nginx.conf')]))
}

const servers: Contender[] = []
let publicId = ''
for (const version of listVersions(options.words)) {
  const seeded = await seed({ ...version, links: options.links }, async (db, { workspaceId }) => {
    await seedDomain(db, workspaceId, OWN)
    await seedLinks(db, workspaceId, 1000, OWN)
    if (version.checkout === ROOT) await seedLinks(db, workspaceId, 1000, '', DECIDING)
  })
  if (version.checkout === ROOT) publicId = seeded.publicId
  const environment = { TOWPATH_URL: `http://${DEFAULT}`, TRUST_PROXY: '127.0.0.1' }
  servers.push(await startTowpath(environment, version))
}
const [towpath] = servers as [Contender]
const bare = [await startBareBun(), await startNginx()].filter((each) => each !== undefined)

/** First page views: a sealed event id is made for each. */
const pageViews = () =>
  postScript(
    '"/e"',
    { Origin: 'https://shop.example', 'Content-Type': 'text/plain;charset=UTF-8', Accept: '*/*' },
    `'{"w":"${publicId}","u":"https://shop.example/bicycles?utm_source=newsletter","r":"https://www.instagram.com/"}'`,
    Math.floor(Math.random() * 16e6),
  )

const toDefault = () => redirectScript({ host: DEFAULT })
const toDeciding = () => redirectScript({ host: DEFAULT, prefix: DECIDING.prefix })
type Row = [name: string, server: Contender, toScript: () => string]
const contenders: Row[] = [
  ...servers.map((server): Row => [server.name, server, toDefault]),
  ['towpath, 20 rules and a split', towpath, toDeciding],
  ["towpath, a workspace's domain", towpath, () => redirectScript({ host: OWN })],
  ['towpath, first page views', towpath, pageViews],
  ...bare.map((server): Row => [server.name, server, redirectScript]),
]
const run = ([, server, toScript]: Row, seconds: number) => load(server, { seconds, script: toScript() })
// Rules and splits are compiled later than a plain redirect.
for (const contender of contenders) await run(contender, 4)
const runs = contenders.map((contender) => () => run(contender, options.seconds))
const results = await runRounds(options.rounds, runs)
const [product = []] = results
const rows = results.map((rounds, n) => {
  const toRatio = (key: keyof LoadResult) => medianRatio(product, rounds, key).toFixed(2)
  const ratios = [toRatio('perSecond'), toRatio('p99Ms'), toRatio('processorUs')]
  return [contenders[n]?.[0] ?? '', ...toLoadCells(rounds), ...ratios]
})
finish(
  toTable(['server', ...LOAD_COLUMNS, 'towpath / it', 'towpath p99 / its', 'towpath µs / its'], rows),
  `Failed requests: ${sumOf(results.flat(), 'failed')}`,
)
