// Runs the tests of a suite: `npm test`, `npm run test:full`, `npm run soak`, and `npm run test:changed` for what a change
// must run whole. What follows `--` goes to `bun test`: paths, and options such as `-t "a name"`.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import bunfig from '../bunfig.toml'
import {
  findChangedTests,
  listChangedFiles,
  readChangeRules,
  readContributing,
} from './support/run/changed-tests.ts'
import { preparePrograms, type ReadyPrograms } from './support/run/programs.ts'
import {
  findOverBudget,
  type OverBudget,
  readCosts,
  readTestNames,
  toKindTable,
} from './support/run/report.ts'
import { measureTreeTime } from './support/run/tree-time.ts'
import { SUITES, type Suite } from './support/suite.ts'

const say = (line: string) => process.stdout.write(`${line}\n`)

/** Processes side by side. Two cores are busy with three, because tests also wait. */
const PARALLEL: Record<Suite, number> = { quick: 3, full: 3, soak: 2 }
/** A budget that is exceeded by more fails the run. */
const TOLERANCE = 2
const SHOWN = 12
/** A test must be far over its budget each time, alone. */
const RETRIES = 3

const [asked = 'quick', ...rest] = process.argv.slice(2)
const suite = asked === 'changed' ? 'full' : SUITES.find((name) => name === asked)
if (!suite) throw new Error(`The first word is one of ${SUITES.join(', ')} and changed`)

async function main(suite: Suite, words: string[]): Promise<number> {
  if (asked === 'changed' && words.length === 0) {
    say('Nothing that has tests was changed.')
    return 0
  }
  // The tests read it, and it decides which programs they need.
  process.env.TEST_SUITE = suite
  const tree = measureTreeTime()
  const started = Date.now()
  const files = listTestFiles(suite, words)
  const ready = preparePrograms(files, say)
  const seed = toSeedSetting(suite)
  if (seed) say(`TEST_SEED=${seed} repeats the random choices of this run.`)
  const dir = mkdtempSync(join(tmpdir(), 'towpath-run-'))
  try {
    const exitCode = await runTests({ suite, words, ready, seed, dir })
    const costs = readCosts(join(dir, 'costs'))
    const seconds = (await tree?.read())?.toFixed(0) ?? '?'
    say('')
    for (const line of toKindTable(costs)) say(line)
    say(`${((Date.now() - started) / 60_000).toFixed(1)} minutes, ${seconds} processor seconds in all.`)
    if (exitCode !== 0 && seed)
      say(`Repeat its random choices: TEST_SEED=${seed} npm run test:${suite} -- <file>`)
    sayWhatIsLeftOut(ready)
    const isOver = suite === 'quick' && !(await keepsBudget(dir))
    return exitCode || Number(isOver)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

function changedTests(): string[] {
  const found = findChangedTests(listChangedFiles(), readChangeRules(readContributing()))
  for (const path of found) say(`changed: ${path}`)
  return found.map((path) => `./${path}`)
}

/** Paths among the words choose files as `bun test` does. */
function listTestFiles(suite: Suite, words: string[]): string[] {
  const paths = words.filter(
    (word, n) => !word.startsWith('-') && !/^-(t|-test-name-pattern)$/.test(words[n - 1] ?? ''),
  )
  return [...new Bun.Glob('{server,tests}/**/*.test.{ts,tsx}').scanSync()]
    .filter((file) => suite !== 'quick' || !file.includes('.full.test.'))
    .filter((file) => paths.length === 0 || paths.some((path) => file.includes(path.replace(/^\.\//, ''))))
}

/** The quick suite makes the same choices in each run of a release. */
function toSeedSetting(suite: Suite): string | undefined {
  if (process.env.TEST_SEED || suite === 'quick') return process.env.TEST_SEED
  return String(crypto.getRandomValues(new Uint32Array(1))[0])
}

interface Run {
  suite: Suite
  words: string[]
  ready?: ReadyPrograms
  seed: string | undefined
  /** Where the run writes its costs and the names of its tests. */
  dir: string
  quiet?: boolean
}

async function runTests({ suite, words, ready, seed, dir, quiet }: Run): Promise<number> {
  const ignored = [...(suite === 'quick' ? ['**/*.full.test.*'] : []), ...(ready?.leftOut ?? [])]
  const run = Bun.spawn(
    [
      process.execPath,
      'test',
      '--timeout',
      '120000',
      `--parallel=${PARALLEL[suite]}`,
      '--no-isolate',
      '--reporter=junit',
      `--reporter-outfile=${join(dir, 'junit.xml')}`,
      // They take the place of the patterns in bunfig.toml.
      ...[...bunfig.test.pathIgnorePatterns, ...ignored].flatMap((pattern) => [
        '--path-ignore-patterns',
        pattern,
      ]),
      ...words,
    ],
    {
      env: {
        ...process.env,
        TEST_COSTS: join(dir, 'costs'),
        ...(seed && { TEST_SEED: seed }),
        ...(ready?.isWithoutPostgres && { TEST_WITHOUT_POSTGRES: 'yes' }),
        // Code of a quick test runs too few times to earn its last compiler back: a tenth of the processor time.
        ...(suite === 'quick' && { BUN_JSC_useFTLJIT: '0' }),
      },
      stdio: ['ignore', quiet ? 'ignore' : 'inherit', quiet ? 'ignore' : 'inherit'],
    },
  )
  return run.exited
}

function sayWhatIsLeftOut({ missing, leftOut }: ReadyPrograms) {
  for (const sentence of missing) say(sentence)
  if (leftOut.length > 0) say(`Left out: ${leftOut.length} files, such as ${leftOut[0]}.`)
}

/** A test over its budget may have met a garbage collection: what is far over must be so alone, too. */
async function keepsBudget(dir: string): Promise<boolean> {
  const over = findOverBudget(readCosts(join(dir, 'costs')), readTestNames(join(dir, 'junit.xml')))
  const shown = over.filter((each, n) => n < SHOWN || isFarOver(each))
  for (const each of shown) say(`over budget: ${describeOver(each)}`)
  if (over.length > shown.length)
    say(`over budget: ${over.length - shown.length} more, by less than ${TOLERANCE} times`)
  const files = [...new Set(over.filter(isFarOver).map(({ file }) => file))]
  let keeps = true
  for (const file of files) {
    let left = over.filter((each) => each.file === file && isFarOver(each))
    for (let tries = 0; left.length > 0 && tries < RETRIES; tries++) {
      const again = await listFarOver(file, mkdtempSync(join(dir, 'again-')))
      left = left.flatMap(({ test }) => again.find((each) => each.test === test) ?? [])
    }
    for (const each of left)
      say(`TOO DEAR for the quick suite: ${describeOver(each)}. tests/README.md says what to do.`)
    keeps &&= left.length === 0
  }
  return keeps
}

async function listFarOver(file: string, dir: string): Promise<OverBudget[]> {
  await runTests({ suite: 'quick', words: [`./${file}`], seed: undefined, dir, quiet: true })
  const costs = readCosts(join(dir, 'costs'))
  return findOverBudget(costs, readTestNames(join(dir, 'junit.xml'))).filter(isFarOver)
}

const isFarOver = ({ ms, budgetMs }: OverBudget) => ms > TOLERANCE * budgetMs

const describeOver = ({ file, test, ms, budgetMs }: OverBudget) =>
  `${file}${test === undefined ? '' : ` > ${test}`} took ${ms.toFixed(0)} ms of ${budgetMs}`

process.exit(await main(suite, asked === 'changed' ? [...changedTests(), ...rest] : rest))
