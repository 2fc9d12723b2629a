// Shows what the quick suite protects: makes one-line mistakes in server/ and dashboard/, one at a time, and looks which
// suite notices them. `npm run mutants -- --seed 1 --server 200 --dashboard 40 --out <directory>`. It takes hours, and goes
// on with the results that the directory already has.

import { appendFileSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { applyMutant, listMutants, noteReach, type SourceMutant } from './support/mutants/list-mutants.ts'
import { createRandom } from './support/random.ts'

const { values: options } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    server: { type: 'string', default: '200' },
    dashboard: { type: 'string', default: '40' },
    /** A directory for the copies, for what each test file reaches, and for the results. */
    out: { type: 'string', default: join(tmpdir(), 'towpath-mutants') },
  },
})
const OUT = options.out
const say = (line: string) => process.stdout.write(`${line}\n`)

type Suite = 'quick' | 'full'

/** How many seconds of tests one mutant gets, the nearest tests first. */
const SECONDS: Record<Suite, number> = { quick: 40, full: 60 }
/** On a quiet machine all tests of a mutant take less: what takes longer hangs. */
const KILL_AFTER_MS = 300_000
const WHOLE_SUITE_MS = 6_000_000
const COPIES = 2

interface Reach {
  /** Test files that come to the place of a mutant, by its number. */
  files: Map<number, Set<string>>
  /** The time of each test file, in milliseconds. */
  ms: Map<string, number>
}

interface Result extends Pick<SourceMutant, 'file' | 'line' | 'from' | 'to'> {
  n: number
  killedBy: Suite | 'none'
  /** The test files that ran and failed, or all that ran. */
  ran: string[]
  /** They were ended after KILL_AFTER_MS: the mutant makes them wait, or the machine was busy. */
  hangs: boolean
}

const mutants = [
  ...choose('server', Number(options.server)),
  ...choose('dashboard', Number(options.dashboard)),
]
mkdirSync(OUT, { recursive: true })
const resultsFile = join(OUT, 'results.ndjson')
const results = existsSync(resultsFile)
  ? readLines(resultsFile).map((line) => JSON.parse(line) as Result)
  : []
const reach = { quick: await measureReach('quick'), full: await measureReach('full') }
/** Whether a test file fails on a copy without a mutant, too: a copy has no git history, and other tests run beside it. */
const unsound = new Map<string, boolean>()
// In a mixed order: a run that is cut off has tried some of both trees.
const MIX = 101
const todo = mutants
  .map((_, n) => n)
  .filter((n) => !results.some((result) => result.n === n))
  .sort((a, b) => ((a * MIX) % mutants.length) - ((b * MIX) % mutants.length))
await Promise.all(Array.from({ length: COPIES }, (_, copy) => tryMutants(makeCopy(`copy-${copy}`))))
report()

/** @returns mutants of the tree, the same for the same seed */
function choose(tree: 'server' | 'dashboard', count: number): SourceMutant[] {
  const all = [...new Bun.Glob(`${tree}/**/*.{ts,tsx}`).scanSync()]
    .filter((file) => !/\.(test|fixture)\.|\.d\.ts$|^dashboard\/(build|bundle|dev)/.test(file))
    .sort()
    .flatMap((file) => listMutants(file, readFileSync(file, 'utf8')))
  const random = createRandom(`mutants of ${tree}`, Number(options.seed))
  return Array.from({ length: count }, () => all[Math.floor(random() * all.length)] as SourceMutant)
}

function readLines(path: string): string[] {
  return readFileSync(path, 'utf8').split('\n').filter(Boolean)
}

/** @returns the directory of a copy of this checkout, with its packages */
function makeCopy(name: string): string {
  const dir = join(OUT, name)
  // A run that was ended leaves its mutant in the copy.
  rmSync(dir, { recursive: true, force: true })
  const files = Bun.spawnSync(['git', 'ls-files', '-z', '--cached', '--others', '--exclude-standard'])
  for (const file of files.stdout.toString().split('\0').filter(Boolean)) {
    if (existsSync(file)) cpSync(file, join(dir, file))
  }
  Bun.spawnSync(['cp', '-al', 'node_modules', dir])
  return dir
}

/** Runs a suite once, on a copy that notes which test file comes to which mutant. */
async function measureReach(suite: Suite): Promise<Reach> {
  const path = join(OUT, `reach-${suite}`)
  const costs = join(OUT, `costs-${suite}`)
  if (!existsSync(costs)) {
    say(`Looking what the ${suite} suite reaches …`)
    const dir = makeCopy('reach')
    instrument(dir)
    await runTests(dir, suite, [], { TEST_REACH: path, TEST_COSTS: costs })
  }
  const files = new Map<number, Set<string>>()
  for (const line of existsSync(path) ? readLines(path) : []) {
    const [n, by = ''] = line.split(' ')
    files.set(
      Number(n),
      (files.get(Number(n)) ?? new Set()).add(by.slice(by.search(/(server|tests|packages)\//))),
    )
  }
  const ms = new Map<string, number>()
  for (const line of readLines(costs)) {
    const { file, totalMs } = JSON.parse(line)
    ms.set(file.slice(join(OUT, 'reach/').length), totalMs)
  }
  return { files, ms }
}

function instrument(dir: string) {
  const byFile = new Map<string, Map<number, SourceMutant>>()
  for (const [n, mutant] of mutants.entries())
    byFile.set(mutant.file, (byFile.get(mutant.file) ?? new Map()).set(n, mutant))
  for (const [file, own] of byFile) writeFileSync(join(dir, file), noteReach(readFileSync(file, 'utf8'), own))
  change(
    dir,
    'tests/support/setup.ts',
    /$/,
    `
    import { beforeAll as beforeEachFile } from 'bun:test'
    beforeEachFile(() => { process.env.TEST_FILE = Bun.main })
  `,
  )
  change(
    dir,
    'tests/support/browser/dashboard-browser.ts',
    "page.on('console', (message) => {",
    `$&
    const [, noted] = /^__mutant (\\d+)/.exec(message.text()) ?? []
    if (noted && process.env.TEST_REACH)
      require('node:fs').appendFileSync(process.env.TEST_REACH, noted + ' ' + process.env.TEST_FILE + '\\n')
  `,
  )
}

/** @throws when the place is not there any more */
function change(dir: string, file: string, place: string | RegExp, to: string) {
  const text = readFileSync(file, 'utf8')
  const changed = text.replace(place, to)
  if (changed === text) throw new Error(`${file} has no ${place}`)
  writeFileSync(join(dir, file), changed)
}

interface Verdict {
  ends: 'pass' | 'fail' | 'hang'
  /** The test file that failed first. */
  failed?: string
}

async function runTests(
  dir: string,
  suite: Suite,
  files: string[],
  env: Record<string, string> = {},
): Promise<Verdict> {
  const log = join(OUT, `${files.length > 0 ? basename(dir) : suite}.log`)
  const output = Bun.file(log)
  await output.write('')
  const ignored = suite === 'quick' ? ['--path-ignore-patterns', '**/*.full.test.*'] : []
  const run = Bun.spawn(
    [
      process.execPath,
      'test',
      '--timeout',
      '120000',
      '--no-isolate',
      ...ignored,
      ...(files.length > 0 ? ['--bail', ...files.map((file) => `./${file}`)] : ['--parallel=3']),
    ],
    {
      cwd: dir,
      env: { ...process.env, ...env, TEST_SUITE: suite, TEST_SEED: '1' },
      stdio: ['ignore', output, output],
    },
  )
  const killer = setTimeout(() => run.kill('SIGKILL'), files.length > 0 ? KILL_AFTER_MS : WHOLE_SUITE_MS)
  const exitCode = await run.exited
  clearTimeout(killer)
  if (exitCode === 0) return { ends: 'pass' }
  // `bun test` writes a file's path before its tests.
  const headings = readLines(log).flatMap((line) => /^(\S+\.test\.tsx?):$/.exec(line)?.[1] ?? [])
  return { ends: run.signalCode === 'SIGKILL' ? 'hang' : 'fail', failed: headings.at(-1) }
}

async function isUnsound(dir: string, suite: Suite, file: string, mutant: SourceMutant): Promise<boolean> {
  const known = unsound.get(file)
  if (known !== undefined) return known
  const mutated = readFileSync(join(dir, mutant.file), 'utf8')
  cpSync(mutant.file, join(dir, mutant.file))
  const { ends } = await runTests(dir, suite, [file])
  writeFileSync(join(dir, mutant.file), mutated)
  unsound.set(file, ends !== 'pass')
  if (ends !== 'pass') say(`${file} fails without a mutant, and is left out`)
  return ends !== 'pass'
}

async function tryMutants(dir: string) {
  for (let n = todo.shift(); n !== undefined; n = todo.shift()) {
    const mutant = mutants[n] as SourceMutant
    const original = readFileSync(mutant.file, 'utf8')
    writeFileSync(join(dir, mutant.file), applyMutant(original, mutant))
    const tried = await trySuites(dir, n, mutant)
    writeFileSync(join(dir, mutant.file), original)
    const { file, line, from, to } = mutant
    const result: Result = { n, file, line, from, to, ...tried }
    results.push(result)
    appendFileSync(resultsFile, `${JSON.stringify(result)}\n`)
    say(
      `${n} ${tried.killedBy === 'none' ? 'SURVIVES' : tried.killedBy}${tried.hangs ? ' (hangs)' : ''} ${file}:${line} ${from} → ${to}`,
    )
  }
}

async function trySuites(
  dir: string,
  n: number,
  mutant: SourceMutant,
): Promise<Pick<Result, 'killedBy' | 'ran' | 'hangs'>> {
  const ran: string[] = []
  for (const suite of ['quick', 'full'] as const) {
    // Cheap ones first, a few at a time: the first failure ends the search.
    const files = findNearestTests(n, mutant, suite).filter((file) => !unsound.get(file))
    while (files.length > 0) {
      const some = files.splice(0, 8)
      const { ends, failed } = await runTests(dir, suite, some)
      if (ends === 'fail' && failed && (await isUnsound(dir, suite, failed, mutant))) {
        files.unshift(...some.filter((file) => file !== failed))
        continue
      }
      ran.push(...some)
      if (ends !== 'pass') return { killedBy: suite, ran: failed ? [failed] : some, hangs: ends === 'hang' }
    }
  }
  return { killedBy: 'none', ran, hangs: false }
}

/** @returns the test files that come to the place, those of the same folder first, as many as the time allows */
function findNearestTests(n: number, mutant: SourceMutant, suite: Suite): string[] {
  const { files, ms } = reach[suite]
  const folders = dirname(mutant.file).split('/')
  const toDistance = (test: string) => {
    const other = dirname(test).split('/')
    const common = folders.findIndex((folder, depth) => other[depth] !== folder)
    return folders.length - (common === -1 ? folders.length : common)
  }
  const isSameFolder = (test: string) => dirname(test) === dirname(mutant.file)
  const reaching = [...ms.keys()].filter((test) => files.get(n)?.has(test) || isSameFolder(test))
  const cost = (test: string) => ms.get(test) ?? 0
  reaching.sort((a, b) => toDistance(a) - toDistance(b) || cost(a) - cost(b))
  let left = SECONDS[suite] * 1000
  return reaching.filter((test) => {
    left -= cost(test)
    return left > 0 || test === reaching[0]
  })
}

function report() {
  say('\n| mutants of | made | killed by quick | by full alone | by none | quick of killed |')
  say('|---|--:|--:|--:|--:|--:|')
  for (const tree of ['server', 'dashboard']) {
    const own = results.filter(({ file }) => file.startsWith(`${tree}/`))
    const count = (by: Result['killedBy']) => own.filter(({ killedBy }) => killedBy === by).length
    const share = (100 * count('quick')) / Math.max(1, count('quick') + count('full'))
    say(
      `| ${tree}/ | ${own.length} | ${count('quick')} | ${count('full')} | ${count('none')} | ${share.toFixed(1)} % |`,
    )
  }
  rmSync(join(OUT, 'reach'), { recursive: true, force: true })
}
