// Compares questions about clicks with PostgreSQL, over the same hits in the same run: bun bench/analytics.ts --postgres.
// The product's engine has no roll-ups here.

import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDuckDb } from '../server/storage/hits/duckdb/engine.ts'
import type { HitAnswer } from '../server/storage/hits/hit-engine.ts'
import { isOriginDimension } from '../server/storage/sources/origin-sql.ts'
import type { LoadReport } from './analytics-load.ts'
import { loadPostgres, type Postgres } from './analytics-postgres.ts'
import { createQuestions, type Question } from './analytics-questions.ts'
import { BIGGEST, FOUR_PERCENT } from './hits-generator.ts'
import { median } from './median.ts'
import { runScript } from './run-script.ts'
import { formatVerdict } from './verdict.ts'

/** PostgreSQL takes seconds for some questions: after this time, the benchmark does not ask again. */
const POSTGRES_BUDGET_MS = 3000
const BYTES_PER_CLICK = 25
const FASTER_THAN_POSTGRES = 20
const SUBJECTS = [
  { workspace: FOUR_PERCENT, name: '4 % workspace', atMostMs: 50 },
  { workspace: BIGGEST, name: 'biggest workspace', atMostMs: 400 },
]

const print = (text: string) => process.stdout.write(`${text}\n`)
const printProgress = (text: string) => process.stderr.write(`${text}\n`)

interface Measurement {
  question: string
  subject: (typeof SUBJECTS)[number]
  ms: number
  postgresMs: number | undefined
}

async function measureSize(millions: number, rounds: number): Promise<Measurement[]> {
  const hits = millions * 1_000_000
  const directory = mkdtempSync(join(tmpdir(), 'towpath-analytics-'))
  let postgres: Postgres | undefined
  try {
    printProgress(`${millions} million: loading`)
    const loaded = await runScript<LoadReport>('analytics-load.ts', directory, hits)
    postgres = await loadPostgres(hits)
    const path = join(directory, 'hits.duckdb')
    const bytes = statSync(path).size / hits
    printProgress(`${millions} million: asking`)
    const engine = await openDuckDb({ path })
    const before = process.memoryUsage.rss()
    let peak = before
    const ask = async ({ query }: Question) => {
      const answer = await engine.ask(query)
      peak = Math.max(peak, process.memoryUsage.rss())
      return answer
    }
    const measured = await askAll(ask, postgres, rounds)
    await engine.close()
    print(`\n## ${millions} million clicks\n`)
    print(answersTable(measured))
    print(
      [
        '',
        `- Load: ${perSecond(hits, loaded.loadSeconds)} hits/s; sorting beside it took ${loaded.sortSeconds.toFixed(0)} s`,
        `- On disk: ${bytes.toFixed(1)} bytes per click (at most ${BYTES_PER_CLICK}: ${formatVerdict(bytes <= BYTES_PER_CLICK)})`,
        `- PostgreSQL: ${(postgres.bytes / hits).toFixed(0)} bytes per click, indexes included`,
        `- Memory: asking took ${((peak - before) / 1024 ** 2).toFixed(0)} MB; the process that generated, loaded and sorted had ${loaded.peakMb.toFixed(0)} MB at most`,
      ].join('\n'),
    )
    return measured
  } finally {
    await postgres?.end()
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Asks both engines in turn, so that other load on the machine meets both. The first round warms up. */
async function askAll(ask: (question: Question) => Promise<HitAnswer[]>, postgres: Postgres, rounds: number) {
  const measured: Measurement[] = []
  for (const subject of SUBJECTS) {
    for (const question of createQuestions(subject.workspace)) {
      const ours: number[] = []
      const theirs: number[] = []
      let spent = 0
      for (let round = 0; round <= rounds; round++) {
        const [answer, ms] = await timed(() => ask(question))
        if (round > 0) ours.push(ms)
        if (spent > POSTGRES_BUDGET_MS || isOwnToDuckDb(question)) continue
        const [expected, postgresMs] = await timed(() => postgres.ask(question.query))
        spent += postgresMs
        // The first round counts too when there is no time for a second one.
        if (round > 0 || spent > POSTGRES_BUDGET_MS) theirs.push(postgresMs)
        if (!Bun.deepEquals(answer, expected)) throw new Error(`Different answers: ${question.name}`)
      }
      measured.push({
        question: question.name,
        subject,
        ms: median(ours),
        postgresMs: theirs.length > 0 ? median(theirs) : undefined,
      })
    }
  }
  return measured
}

/**
 * Sources and channels: PostgreSQL joins nulls row by row, for minutes. A team that counts in PostgreSQL would store them.
 */
const isOwnToDuckDb = ({ query }: Question) => isOriginDimension(query.groupBy.by)

async function timed<T>(work: () => Promise<T>): Promise<[T, number]> {
  const before = performance.now()
  const result = await work()
  return [result, performance.now() - before]
}

const perSecond = (hits: number, seconds: number) => Math.round(hits / seconds).toLocaleString('en-US')

function answersTable(measured: Measurement[]): string {
  const lines = measured.map(({ question, subject, ms, postgresMs }) => {
    const ratio = postgresMs && postgresMs / ms
    const missed = [
      ...(ms > subject.atMostMs ? [`over ${subject.atMostMs} ms`] : []),
      ...(ratio && ratio < FASTER_THAN_POSTGRES ? [`under ${FASTER_THAN_POSTGRES}×`] : []),
    ]
    const cells = [
      subject.name,
      question,
      ms.toFixed(1),
      postgresMs?.toFixed(0) ?? '–',
      ratio ? `${ratio.toFixed(0)}×` : '–',
      missed.length > 0 ? `**${missed.join(', ')}**` : 'met',
    ]
    return `| ${cells.join(' | ')} |`
  })
  return [
    '| who | question | Towpath ms | PostgreSQL ms | faster | target |',
    '|---|---|---|---|---|---|',
    ...lines,
  ].join('\n')
}

/** How each question's cost grows from one size to the next. */
function growthTable(sizes: number[], results: Measurement[][]): string {
  const lines = (results[0] ?? []).map(({ question, subject }, n) => {
    const times = results.map((measured) => measured[n]?.ms.toFixed(1) ?? '–')
    return `| ${[subject.name, question, ...times].join(' | ')} |`
  })
  return [
    `| who | question | ${sizes.map((size) => `${size} million, ms`).join(' | ')} |`,
    `|---|---|${sizes.map(() => '---').join('|')}|`,
    ...lines,
  ].join('\n')
}

/** @param sizes millions of clicks */
export async function compareWithPostgres(sizes: number[], rounds: number): Promise<void> {
  const results: Measurement[][] = []
  for (const millions of sizes) results.push(await measureSize(millions, rounds))
  if (sizes.length > 1) print(`\n## Growth\n\n${growthTable(sizes, results)}`)
}
