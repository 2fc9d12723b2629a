// bun bench/own-domain.ts: redirects of links on a domain of a workspace, against the same links on the default domain of
// the same server. Alternating rounds of one run, medians.

import { openDatabase } from '../server/storage/database/open-database.ts'
import { type LoadResult, load, redirectScript, requireWrk } from './load.ts'
import { median } from './median.ts'
import { readProcessorTime } from './processor-time.ts'
import { type Contender, seedLinks, startTowpath, TOWPATH_DIR } from './servers.ts'

const ROUNDS = Number(process.argv[2] ?? 15)
const SECONDS = 3
const LINKS = 1000
/** As long as each other: one byte more or less must not decide. */
const [DEFAULT, OWN] = ['go.bench.example', 'go.other.example']

async function seed(): Promise<void> {
  const db = await openDatabase({ dataDir: TOWPATH_DIR })
  await seedLinks(db, LINKS)
  const workspaceId = await seedLinks(db, LINKS, OWN)
  const at = Date.now()
  await db.write((connection) =>
    connection
      .insertInto('domains')
      .values({
        workspace_id: workspaceId,
        domain: OWN,
        token: 'bench',
        verified_at: at,
        is_primary: 1,
        case_sensitive: 0,
        created_at: at,
        updated_at: at,
      })
      .execute(),
  )
  await db.close()
}

interface Measured extends LoadResult {
  /** Microseconds of the server's processor time for each request. */
  processorUs: number
}

async function measure({ port, pid }: Contender, host: string): Promise<Measured> {
  const script = `${redirectScript(LINKS - 1)}\nwrk.headers["Host"] = "${host}"\n`
  const before = readProcessorTime(pid)
  const result = await load(port, { seconds: SECONDS, script })
  return { ...result, processorUs: (readProcessorTime(pid) - before) / 1000 / (result.perSecond * SECONDS) }
}

requireWrk()
await seed()
const server = await startTowpath({ TOWPATH_URL: `http://${DEFAULT}` })
const rounds: { byDefault: Measured; own: Measured }[] = []
try {
  for (const host of [DEFAULT, OWN]) await measure(server, host)
  for (let round = 0; round < ROUNDS; round++) {
    // Each comes first as often as the other.
    const first = await measure(server, round % 2 ? OWN : DEFAULT)
    const second = await measure(server, round % 2 ? DEFAULT : OWN)
    rounds.push(round % 2 ? { byDefault: second, own: first } : { byDefault: first, own: second })
    process.stderr.write(`round ${round + 1} of ${ROUNDS}\n`)
  }
} finally {
  await server.end()
}
const toRow = (name: string, pick: (round: (typeof rounds)[number]) => Measured) => {
  const of = (metric: keyof Measured) => median(rounds.map((round) => pick(round)[metric]))
  const cells = [
    name,
    Math.round(of('perSecond')).toLocaleString('en-US'),
    of('p50Ms').toFixed(2),
    of('p99Ms').toFixed(2),
    of('processorUs').toFixed(1),
  ]
  return `| ${cells.join(' | ')} |`
}
const ratio = (metric: keyof Measured) =>
  median(rounds.map(({ byDefault, own }) => own[metric] / byDefault[metric])).toFixed(3)
const failed = rounds.reduce((sum, { byDefault, own }) => sum + byDefault.failed + own.failed, 0)
process.stdout.write(
  [
    '| domain | requests/s | p50 ms | p99 ms | µs a request |',
    '|---|---|---|---|---|',
    toRow('default', ({ byDefault }) => byDefault),
    toRow("a workspace's", ({ own }) => own),
    '',
    `own / default, median of the rounds: requests/s ${ratio('perSecond')}, p99 ${ratio('p99Ms')}, µs ${ratio('processorUs')}`,
    `Failed requests: ${failed}`,
    '',
  ].join('\n'),
)
process.exit(0)
