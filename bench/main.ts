// Measures redirects beside bare servers, links that decide, a workspace's domain and page views: npm run bench [-- <another checkout>]
// [--rounds=7] [--seconds=2] [--links=100000]. Absolute figures depend on the machine and its other load, ratios much less.

import { formatCount, medianOf, medianRatio, print, readOptions, runRounds, toTable } from './harness.ts'
import { type LoadResult, load, postScript, redirectScript } from './load.ts'
import {
  type Contender,
  listVersions,
  ROOT,
  seed,
  seedDomain,
  seedLinks,
  startBareBun,
  startNginx,
  startTowpath,
} from './servers.ts'

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
    ['A', 'B', 'C'].map((label, n) => ({
      url: `https://example.com/${label}`,
      weight: [50, 30, 20][n],
      label,
    })),
  ),
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
    '/e',
    { Origin: 'https://shop.example', 'Content-Type': 'text/plain;charset=UTF-8', Accept: '*/*' },
    `'{"w":"${publicId}","u":"https://shop.example/bicycles?utm_source=newsletter","r":"https://www.instagram.com/"}'`,
    Math.floor(Math.random() * 16e6),
  )
const withHost = (host: string, prefix?: string) =>
  `${redirectScript(999, prefix)}\nwrk.headers["Host"] = "${host}"\n`

interface Row {
  name: string
  server: Contender
  toScript(): string
}

const contenders: Row[] = [
  ...servers.map((server) => ({ name: server.name, server, toScript: () => withHost(DEFAULT) })),
  {
    name: 'towpath, 20 rules and a split',
    server: towpath,
    toScript: () => withHost(DEFAULT, DECIDING.prefix),
  },
  { name: "towpath, a workspace's domain", server: towpath, toScript: () => withHost(OWN) },
  { name: 'towpath, first page views', server: towpath, toScript: pageViews },
  ...bare.map((server) => ({ name: server.name, server, toScript: redirectScript })),
]
const run = ({ server, toScript }: Row, seconds: number) => load(server, { seconds, script: toScript() })
try {
  // Rules and splits are compiled later than a plain redirect.
  for (const contender of contenders) await run(contender, 4)
  const runs = contenders.map((contender) => () => run(contender, options.seconds))
  const results = await runRounds(options.rounds, runs)
  const product = results[0] as LoadResult[]
  const rows = results.map((rounds, n) => {
    const toRatio = (key: keyof LoadResult) => medianRatio(product, rounds, key).toFixed(2)
    return [
      contenders[n]?.name ?? '',
      formatCount(medianOf(rounds, 'perSecond')),
      medianOf(rounds, 'p50Ms').toFixed(2),
      medianOf(rounds, 'p99Ms').toFixed(2),
      medianOf(rounds, 'processorUs').toFixed(1),
      toRatio('perSecond'),
      toRatio('p99Ms'),
      toRatio('processorUs'),
    ]
  })
  const failed = results.flat().reduce((sum, result) => sum + result.failed, 0)
  const header = ['server', 'requests/s', 'p50 ms', 'p99 ms', 'µs a request']
  print(
    toTable([...header, 'towpath / it', 'towpath p99 / its', 'towpath µs / its'], rows),
    `Failed requests: ${failed}`,
  )
} finally {
  for (const server of [...servers, ...bare]) await server.end()
}
process.exit(0)
