// Measures one size of an instance: builds its roll-ups, and asks every question in turn from hits and from roll-ups.

import { statSync } from 'node:fs'
import { DAY_MS } from '../server/lib/utc-day.ts'
import { type DuckDbEngine, openDuckDb } from '../server/storage/hits/duckdb/engine.ts'
import { openReadOnly } from '../server/storage/hits/duckdb/open-read-only.ts'
import type { OriginPart } from '../server/storage/hits/rollups/answer-origin.ts'
import type { DayCost } from './analytics-day-cost.ts'
import { createNextQuestions, createPageQuestions, NOW } from './analytics-page-questions.ts'
import type { Question } from './analytics-questions.ts'
import { BIGGEST, END, FOUR_PERCENT, GENERATED_DAYS } from './hits-generator.ts'
import { median } from './median.ts'
import { runScript } from './run-script.ts'

const ENGINE = { threads: 2, memoryLimitMb: 512 }

export const SUBJECTS = [
  { workspace: BIGGEST, name: 'biggest tenant, 25 %' },
  { workspace: FOUR_PERCENT, name: 'tenant with 4 %' },
] as const
type Subject = (typeof SUBJECTS)[number]

/** Milliseconds, medians. */
export interface Timing {
  raw: number
  rolled: number
}

export interface QuestionTiming extends Timing {
  name: string
  /** How many days were answered from where. */
  origin: string
}

export interface SubjectTimings {
  subject: Subject
  clicks: number
  /** The eleven questions of the page, one after the other. */
  page: Timing
  questions: QuestionTiming[]
}

export interface RollUpCosts {
  days: number
  seconds: number
  /** Of processor time. */
  processorSeconds: number
  rawBytes: number
  rolledBytes: number
  day: DayCost
}

export interface SizeResult {
  millions: number
  costs: RollUpCosts
  subjects: SubjectTimings[]
}

/** @param path a file with hits and without roll-ups @param rounds how often each question is asked in each way */
export async function measureSize(
  { millions, path, rounds }: { millions: number; path: string; rounds: number },
  note: (text: string) => void,
): Promise<SizeResult> {
  note('measuring what a day costs')
  const day = await runScript<DayCost>('analytics-day-cost.ts', path, `${path}.days`)
  note('rolling up')
  const costs = { ...(await rollUpHistory(path)), day }
  note('asking')
  let isRaw = false
  const engine = await openDuckDb({ path, ...ENGINE, withoutRollUps: () => isRaw })
  const ask = (question: Question, raw: boolean) => {
    isRaw = raw
    return engine.ask(question.query)
  }
  const subjects: SubjectTimings[] = []
  for (const subject of SUBJECTS) {
    subjects.push(await measureSubject({ engine, ask, subject, rounds }))
    note(`asked about the ${subject.name}`)
  }
  await engine.close()
  return { millions, costs, subjects }
}

async function rollUpHistory(path: string): Promise<Omit<RollUpCosts, 'day'>> {
  // Opening makes the empty tables of roll-ups.
  await (await openDuckDb({ path, ...ENGINE })).close()
  const rawBytes = await readUsedBytes(path)
  const engine = await openDuckDb({ path, ...ENGINE })
  const startedAt = performance.now()
  const before = process.cpuUsage()
  for (let progress = await engine.rollUp(NOW); progress.rolled; ) progress = await engine.rollUp(NOW)
  const { user, system } = process.cpuUsage(before)
  const seconds = (performance.now() - startedAt) / 1000
  await engine.close()
  return {
    days: GENERATED_DAYS - 1,
    seconds,
    processorSeconds: (user + system) / 1e6,
    rawBytes,
    rolledBytes: (await readUsedBytes(path)) - rawBytes,
  }
}

/** The bytes of the blocks that are in use. The file may have free ones besides. */
async function readUsedBytes(path: string): Promise<number> {
  const instance = await openReadOnly(path, `${path}.tmp`)
  const connection = await instance.connect()
  const [row] = (await connection.runAndReadAll('CALL pragma_database_size()')).getRowObjectsJS()
  connection.closeSync()
  instance.closeSync()
  const used = Number(row?.used_blocks) * Number(row?.block_size)
  if (!(used > 0 && used <= statSync(path).size)) throw new Error(`${path} cannot use ${used} bytes`)
  return used
}

interface SubjectNeeds {
  engine: DuckDbEngine
  ask(question: Question, raw: boolean): ReturnType<DuckDbEngine['ask']>
  subject: Subject
  rounds: number
}

/** The first round warms up, and compares the answers. Raw and rolled take turns in being the first. */
async function measureSubject({ engine, ask, subject, rounds }: SubjectNeeds): Promise<SubjectTimings> {
  const { workspace } = subject
  const page = createPageQuestions(workspace)
  const linkIds = await listLinkIds(engine, workspace)
  const questions = [...page, ...createNextQuestions(workspace, linkIds)]
  const times = questions.map(() => ({ raw: [] as number[], rolled: [] as number[] }))
  const origins: string[] = []
  for (let round = 0; round <= rounds; round++) {
    for (const [n, question] of questions.entries()) {
      const order = round % 2 === 0 ? ['raw', 'rolled'] : ['rolled', 'raw']
      const answers: unknown[] = []
      for (const way of order as ('raw' | 'rolled')[]) {
        const startedAt = performance.now()
        answers.push(await ask(question, way === 'raw'))
        if (round > 0) times[n]?.[way].push(performance.now() - startedAt)
      }
      if (!Bun.deepEquals(answers[0], answers[1])) throw new Error(`Different answers: ${question.name}`)
      // The last way was from roll-ups.
      if (round === 0) origins.push(describeOrigin((await engine.explain(question.query)).origin))
    }
  }
  const sums = (way: keyof Timing) =>
    Array.from({ length: rounds }, (_, round) =>
      page.reduce((sum, _question, n) => sum + (times[n]?.[way][round] as number), 0),
    )
  const [total] = await engine.ask((page[0] as Question).query)
  return {
    subject,
    clicks: total?.clicks ?? 0,
    page: { raw: median(sums('raw')), rolled: median(sums('rolled')) },
    questions: questions.map(({ name }, n) => ({
      name,
      raw: median(times[n]?.raw ?? []),
      rolled: median(times[n]?.rolled ?? []),
      origin: origins[n] as string,
    })),
  }
}

async function listLinkIds(engine: DuckDbEngine, workspaceId: number): Promise<number[]> {
  const answers = await engine.ask({
    workspaceId,
    start: END - GENERATED_DAYS * DAY_MS,
    end: END,
    classes: ['human'],
    filters: [],
    groupBy: { by: 'linkId', limit: 100_000, nullAs: '' },
  })
  return answers.map(({ key }) => Number(key))
}

/** Such as `275 days of months, 24 days, 1 day of hits (not_rolled_up)`. */
function describeOrigin(origin: OriginPart[]): string {
  const days = new Map<string, number>()
  for (const { from, why, start, end } of origin) {
    const name = why ? `hits (${why})` : from.replace('_', ' ')
    days.set(name, (days.get(name) ?? 0) + (end - start) / DAY_MS)
  }
  return [...days].map(([name, count]) => `${name}: ${Number(count.toFixed(1))}`).join(', ')
}
