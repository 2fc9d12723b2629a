// Compares a redirect's p99 during the biggest reports with its p99 without reports: bun bench/redirects-during-reports.ts
// [millions of clicks]. Alternating rounds of one run, medians.

import { createKey } from '../server/features/accounts/access/keys.ts'
import { openDatabase } from '../server/storage/database/open-database.ts'
import { BIGGEST, END, GENERATED_DAYS } from './hits-generator.ts'
import { type LoadResult, load, requireWrk } from './load.ts'
import { median } from './median.ts'
import { type Contender, seedLinks, startTowpath, TOWPATH_DIR } from './servers.ts'

const MILLIONS = Number(process.argv[2] ?? 20)
const ROUNDS = 7
const SECONDS = 3
const RANGE = `start=${new Date(END - GENERATED_DAYS * 86_400_000).toISOString()}&end=${new Date(END).toISOString()}`
const QUESTIONS = ['groupBy=time&granularity=day', 'groupBy=country', 'groupBy=link', 'groupBy=referrer', '']

/** Fills the data directory: the biggest workspace has a quarter of the clicks. */
async function prepare() {
  const db = await openDatabase({ dataDir: TOWPATH_DIR })
  const workspaceId = await seedLinks(db, 1000)
  if (workspaceId !== BIGGEST) throw new Error('the first workspace is not the biggest of the generator')
  const { key } = await createKey({ db, now: Date.now }, workspaceId, 'bench')
  await db.close()
  const script = new URL('analytics-load.ts', import.meta.url).pathname
  const command = [process.execPath, script, TOWPATH_DIR, String(MILLIONS * 1_000_000)]
  const loading = Bun.spawn(command, { stdout: 'ignore', stderr: 'inherit' })
  if ((await loading.exited) !== 0) throw new Error('loading failed')
  return key
}

interface ReportRound {
  redirects: LoadResult
  questions: number
  medianMs: number
}

/** Asks one question after the other while the redirects run. */
async function measureDuringReports(server: Contender, key: string): Promise<ReportRound> {
  let going = true
  const times: number[] = []
  const asking = (async () => {
    for (let n = 0; going; n++) {
      const startedAt = performance.now()
      const url = `http://127.0.0.1:${server.port}/v1/analytics/clicks?${RANGE}&${QUESTIONS[n % QUESTIONS.length]}`
      const answer = await fetch(url, { headers: { Authorization: `Bearer ${key}` } })
      await answer.text()
      if (answer.status === 429) await Bun.sleep(100)
      else if (!answer.ok) throw new Error(`a question was answered with ${answer.status}`)
      else times.push(performance.now() - startedAt)
    }
  })()
  const redirects = await load(server.port, { seconds: SECONDS })
  going = false
  await asking
  return { redirects, questions: times.length, medianMs: median(times) }
}

requireWrk()
const key = await prepare()
const server = await startTowpath()
try {
  await load(server.port, { seconds: 1 })
  const rounds: { alone: LoadResult; beside: ReportRound }[] = []
  for (let round = 1; round <= ROUNDS; round++) {
    const first = round % 2 === 0 ? await load(server.port, { seconds: SECONDS }) : undefined
    const beside = await measureDuringReports(server, key)
    rounds.push({ alone: first ?? (await load(server.port, { seconds: SECONDS })), beside })
    process.stderr.write(`round ${round} of ${ROUNDS}\n`)
  }
  const of = (figure: (round: (typeof rounds)[number]) => number, digits = 2) =>
    median(rounds.map(figure)).toFixed(digits)
  process.stdout.write(
    [
      `| ${MILLIONS} million clicks | redirects/s | p50 ms | p99 ms | p99 / alone |`,
      '|---|---|---|---|---|',
      `| redirects alone | ${of(({ alone }) => alone.perSecond, 0)} | ${of(({ alone }) => alone.p50Ms)} | ${of(({ alone }) => alone.p99Ms)} | 1.00 |`,
      `| beside reports | ${of(({ beside }) => beside.redirects.perSecond, 0)} | ${of(({ beside }) => beside.redirects.p50Ms)} | ${of(({ beside }) => beside.redirects.p99Ms)} | ${of(({ alone, beside }) => beside.redirects.p99Ms / alone.p99Ms)} |`,
      '',
      `Reports in a round of ${SECONDS} s: ${of(({ beside }) => beside.questions, 0)}, ${of(({ beside }) => beside.medianMs, 0)} ms each.`,
      '',
    ].join('\n'),
  )
} finally {
  await server.end()
}
process.exit(0)
