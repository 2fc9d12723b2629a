// Reads the costs of a run's tests (support/run/costs.ts), by kind, and finds those above their budget.

import { existsSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { BUDGET_MS, type FileCosts } from './costs.ts'
import { listShared } from './programs.ts'

/** @returns the lines that the processes of the run have written; paths from the root of the project */
export function readCosts(path: string): FileCosts[] {
  if (!existsSync(path)) return []
  const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean)
  return (
    lines
      .map((line) => JSON.parse(line) as FileCosts)
      .map((costs) => ({ ...costs, file: relative(process.cwd(), costs.file) }))
      // A test may run tests of its own, elsewhere.
      .filter(({ file }) => !file.startsWith('..'))
  )
}

/** By the needs of a file's tests, otherwise by their folder. The first match decides. */
const KINDS: [name: string, fits: (file: string, source: string) => boolean][] = [
  ['Chromium', (file) => listShared(file).has('tests/support/browser/chromium.ts')],
  ['ClickHouse', (file) => listShared(file).has('tests/support/clickhouse/clickhouse-server.ts')],
  ['cluster', (file) => /cluster/.test(file)],
  ['faults', (file) => file.startsWith('tests/faults/')],
  ['journeys, packages', (file) => /^tests\/(journeys|packages|release)/.test(file)],
  ['DuckDB, hits', (file) => /^server\/(storage|features)\/hits\//.test(file)],
  ['server, both row engines', (_, source) => /onBothEngines|ENGINES/.test(source)],
  ['server on SQLite', (_, source) => /onSqlite|startServer/.test(source)],
  ['property, unit', () => true],
]

/** @returns a Markdown table: the processor seconds of each kind of test */
export function toKindTable(costs: FileCosts[]): string[] {
  const kinds = new Map(KINDS.map(([name]) => [name, { files: 0, tests: 0, ms: 0 }]))
  for (const { file, totalMs, tests } of costs) {
    const source = readFileSync(file, 'utf8')
    const [name = ''] = KINDS.find(([, fits]) => fits(file, source)) ?? []
    const sum = kinds.get(name)
    if (!sum) continue
    sum.files++
    sum.tests += tests.length
    sum.ms += totalMs
  }
  const rows = [...kinds].filter(([, { files }]) => files > 0)
  return [
    '| kind | files | tests | processor s | ms a test |',
    '|---|--:|--:|--:|--:|',
    ...rows.map(
      ([name, { files, tests, ms }]) =>
        `| ${name} | ${files} | ${tests} | ${(ms / 1000).toFixed(0)} | ${(ms / Math.max(tests, 1)).toFixed(0)} |`,
    ),
  ]
}

export interface OverBudget {
  file: string
  /** Undefined for the whole file. */
  test: string | undefined
  /** The time on a quiet machine. */
  ms: number
  budgetMs: number
}

/** @param names of the tests of a file, in the order in which they ran */
export function findOverBudget(costs: FileCosts[], names: Map<string, string[]>): OverBudget[] {
  return costs
    .flatMap(({ file, totalMs, tests, slowness }) => {
      const dear = tests.reduce((sum, { ms, hasBudget }) => sum + (hasBudget ? 0 : ms), 0)
      const own = tests.map(({ ms, hasBudget }, n) => ({
        file,
        test: names.get(file)?.[n] ?? `test ${n + 1}`,
        ms: hasBudget ? ms / slowness : 0,
        budgetMs: BUDGET_MS.test,
      }))
      const whole = { file, test: undefined, ms: (totalMs - dear) / slowness, budgetMs: BUDGET_MS.file }
      // The word `quick` lifts the budget of the file's child processes too.
      return dear > 0 ? own : [...own, whole]
    })
    .filter(({ ms, budgetMs }) => ms > budgetMs)
    .sort((a, b) => b.ms / b.budgetMs - a.ms / a.budgetMs)
}

/** Reads JUnit's XML, as `bun test` writes it. @returns the names of the tests that ran, by file */
export function readTestNames(path: string): Map<string, string[]> {
  const names = new Map<string, string[]>()
  if (!existsSync(path)) return names
  const xml = readFileSync(path, 'utf8')
  for (const [, attributes = '', skipped] of xml.matchAll(/<testcase ([^>]*?)(?:\/>|>\s*(<skipped)?)/g)) {
    const read = (name: string) => decode(new RegExp(`${name}="([^"]*)"`).exec(attributes)?.[1] ?? '')
    if (skipped) continue
    const file = read('file')
    names.set(file, [...(names.get(file) ?? []), read('name')])
  }
  return names
}

const ENTITIES: Record<string, string> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' }

const decode = (text: string) => text.replace(/&(\w+);/g, (whole, name: string) => ENTITIES[name] ?? whole)
