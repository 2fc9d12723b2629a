// The harness of all benchmarks: options, rounds, medians and tables; processor time and memory of processes; servers on
// cores of their own, and what their data directory holds; load as fast as it is answered, and at a steady pace.

import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Insertable } from 'kysely'
import type { createKey } from '../server/features/accounts/access/keys.ts'
import type { DatabaseHandle, openDatabase } from '../server/storage/database/open-database.ts'
import type { Tables } from '../server/storage/database/tables.ts'
import { findFreePort } from '../tests/support/processes/free-port.ts'
import { listWorkerProcesses } from '../tests/support/processes/worker-processes.ts'
import { GIVE_UP_MS, USER_AGENT } from './pace.ts'

// --- Options, statistics and tables

/** @returns numbers such as `--rounds=3`, and the words beside them */
export function readOptions<Name extends string>(defaults: Record<Name, number>) {
  const options = { ...defaults, words: [] as string[] }
  for (const word of process.argv.slice(2)) {
    const [, name, value] = /^--([a-z]+)=([\d.]+)$/.exec(word) ?? []
    if (name === undefined) options.words.push(word)
    else if (name in defaults) Object.assign(options, { [name]: Number(value) })
    else throw new Error(`--${name} is unknown. Known are ${Object.keys(defaults).join(', ')}.`)
  }
  return options
}

export const print = (...blocks: string[]) => process.stdout.write(`${blocks.join('\n\n')}\n`)
export const note = (text: string) => process.stderr.write(`${text}\n`)
/** The last words of a benchmark. Its servers end with it. */
export function finish(...blocks: string[]): never {
  print(...blocks)
  process.exit(0)
}

/** The upper one of the two in the middle. */
export const median = (values: number[]) =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

type Figures<Key extends string> = Record<Key, number>[]
export const medianOf = <Key extends string>(results: Figures<Key>, key: Key) =>
  median(results.map((result) => result[key]))
export const sumOf = <Key extends string>(results: Figures<Key>, key: Key) =>
  results.reduce((sum, result) => sum + result[key], 0)

/** The median of the ratios of the rounds. Both sides of a ratio ran side by side. */
export const medianRatio = <Key extends string>(results: Figures<Key>, others: Figures<Key>, key: Key) =>
  median(results.map((result, round) => result[key] / (others[round]?.[key] ?? Number.NaN)))

/**
 * Runs each contender once a round. Each comes first as often as the others, so that other work on the machine meets all.
 * @returns the results of each contender, by rounds
 */
export async function runRounds<T>(rounds: number, contenders: (() => Promise<T>)[], what = '') {
  const results = contenders.map(() => [] as T[])
  for (let round = 0; round < rounds; round++) {
    for (let n = 0; n < contenders.length; n++) {
      const index = (n + round) % contenders.length
      results[index]?.push(await (contenders[index] as () => Promise<T>)())
    }
    note(`${what} round ${round + 1} of ${rounds}`.trim())
  }
  return results
}

export const formatCount = (count: number) => Math.round(count).toLocaleString('en-US')
export const formatVerdict = (isMet: boolean) => (isMet ? 'met' : '**missed**')
export const atLeast = (bound: number, value: number) =>
  `at least ${bound.toLocaleString('en-US')}: ${formatVerdict(value >= bound)}`
export const atMost = (bound: number, value: number) =>
  `at most ${bound.toLocaleString('en-US')}: ${formatVerdict(value <= bound)}`

export const toTable = (header: string[], rows: (string | number)[][]) =>
  [header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')

// --- Processor time and memory (Linux: proc(5))

/** The text of a file in /proc; '' once the process has ended. */
function readProcess(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}

/** A process and all that it has started. */
export function listProcesses(pid: number): number[] {
  const tasks = existsSync(`/proc/${pid}/task`) ? readdirSync(`/proc/${pid}/task`) : []
  const children = tasks.flatMap((task) => readProcess(pid, `task/${task}/children`).match(/\d+/g) ?? [])
  return [pid, ...children.map(Number).flatMap(listProcesses)]
}

/** USER_HZ, which has been 100 on every common machine. */
const MS_PER_TICK = 10

/** @param stat of a process or a thread */
function sumTicksMs(stat: string, withEndedChildren = false): number {
  const fields = stat.split(') ').at(-1)?.split(' ') ?? []
  const ticks = fields.slice(11, withEndedChildren ? 15 : 13)
  return ticks.reduce((sum, each) => sum + Number(each), 0) * MS_PER_TICK
}

/** Milliseconds of processor time of all threads, and of those that have ended (fields 14 and 15 of `stat`). */
export function readProcessorMs(pid: number, withEndedChildren = false): number {
  if (pid === process.pid) {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1000
  }
  return sumTicksMs(readProcess(pid, 'stat'), withEndedChildren)
}

/** Microseconds of processor time of the threads of a process, by their names. The first one is `main thread`. */
export function readThreadsUs(pid: number): Map<string, number> {
  const sums = new Map<string, number>()
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    const stat = readProcess(pid, `task/${task}/stat`)
    const name =
      Number(task) === pid ? 'main thread' : stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')'))
    sums.set(name, (sums.get(name) ?? 0) + sumTicksMs(stat) * 1000)
  }
  return sums
}

export const sumProcessorMs = (pids: number[]) => pids.reduce((sum, pid) => sum + readProcessorMs(pid), 0)

/** Milliseconds of processor time of a process and all that it has started. */
export const readTreeProcessorMs = (pid: number) =>
  listProcesses(pid).reduce((sum, each) => sum + readProcessorMs(each, true), 0)

/** @returns milliseconds of processor time in each of the next seconds, such as those without a request */
export async function measureProcessorMs(pid: number, seconds: number): Promise<number> {
  const before = readTreeProcessorMs(pid)
  await Bun.sleep(seconds * 1000)
  return (readTreeProcessorMs(pid) - before) / seconds
}

/** Resident MB; 0 for a process that has ended. */
export const readResidentMb = (pid: number) =>
  Number(/^VmRSS:\s+(\d+) kB/m.exec(readProcess(pid, 'status'))?.[1] ?? 0) / 1024

/** Resident MB of a server and of its hit worker; 0 while there is no worker. */
export function readResidentMemory(pid: number): { server: number; worker: number } {
  const [worker] = listWorkerProcesses(pid)
  return { server: readResidentMb(pid), worker: worker === undefined ? 0 : readResidentMb(worker) }
}

// --- Servers

export interface Contender {
  name: string
  port: number
  pid: number
  end(): Promise<void>
}

/** A directory that ends with the benchmark, as its servers do. */
export const HOME = mkdtempSync(join(tmpdir(), 'towpath-bench-'))
const children: Bun.Subprocess[] = []
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL')
  rmSync(HOME, { recursive: true, force: true })
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))

export const ROOT = join(import.meta.dir, '..')
export const TOWPATH_DIR = join(HOME, 'towpath')

/** Without taskset (not on Linux), no process is pinned. */
const pinToCore = (core: number, command: string[]) =>
  Bun.which('taskset') ? ['taskset', '-c', String(core), ...command] : command

/** Before other processes of the machine, as root. For milliseconds that are measured beside other work. */
const withPriority = (command: string[]) =>
  process.getuid?.() === 0 && Bun.which('nice') ? ['nice', '-n', '-15', ...command] : command

/** Starts a program of `bench/` or a command on a core: servers have core 0, and load generators core 1. */
export function spawnOn(
  core: number | null,
  command: string[],
  { first = false, cwd = ROOT, env = {}, runtime = [] as string[] } = {},
) {
  const [program = ''] = command
  const whole = program.endsWith('.ts') ? [process.execPath, ...runtime, ...command] : command
  const prioritised = first ? withPriority(whole) : whole
  const child = Bun.spawn(core === null ? prioritised : pinToCore(core, prioritised), {
    cwd,
    env: { ...process.env, ...env },
    stdout: 'pipe',
    stderr: 'inherit',
  })
  children.push(child)
  return child
}

/** @returns what a program of `bench/` prints, which is JSON */
export const runProgram = async <T>(
  core: number,
  script: string,
  ...words: (string | number)[]
): Promise<T> =>
  new Response(
    spawnOn(core, [join(import.meta.dir, script), ...words.map(String)]).stdout,
  ).json() as Promise<T>

export async function launch(name: string, port: number, child: Bun.Subprocess): Promise<Contender> {
  const isAnswering = () =>
    fetch(`http://127.0.0.1:${port}/bench1`, { redirect: 'manual' }).then(
      () => true,
      () => false,
    )
  for (const deadline = Date.now() + 60_000; !(await isAnswering()); await Bun.sleep(5))
    if (Date.now() > deadline || child.exitCode !== null) throw new Error(`${name} did not start`)
  const end = async () => {
    child.kill('SIGTERM')
    await child.exited
  }
  return { name, port, pid: child.pid, end }
}

/** Starts the product as an operator does. @param options.checkout the version to start: this checkout, or another one */
export function startTowpath(
  environment: Record<string, string> = {},
  {
    name = 'towpath',
    checkout = ROOT,
    dataDir = TOWPATH_DIR,
    first = false,
    core = 0 as number | null,
    runtime = [] as string[],
  } = {},
): Promise<Contender> {
  const port = findFreePort()
  const env = { PORT: String(port), HOST: '127.0.0.1', DATA_DIR: dataDir, LOG_LEVEL: 'error', ...environment }
  return launch(name, port, spawnOn(core, ['server/main.ts'], { env, cwd: checkout, first, runtime }))
}

/** This checkout, and the one that the command names to compare with. */
export const listVersions = ([other]: string[]) => [
  { name: 'towpath', checkout: ROOT, dataDir: TOWPATH_DIR },
  ...(other
    ? [{ name: 'the other checkout', checkout: resolve(other), dataDir: `${TOWPATH_DIR}-other` }]
    : []),
]
export type Version = ReturnType<typeof listVersions>[number]

export interface Workspace {
  workspaceId: number
  publicId: string
  /** Of the API. */
  key: string
}

interface SeedOptions {
  links?: number
  dataDir?: string
  databaseUrl?: string
  /** The version that makes the database: an earlier one refuses what a later one has made. */
  checkout?: string
}

/** Makes a workspace with links and a key. @param more stores what else the benchmark needs, such as further workspaces */
export async function seed(
  { links = 1000, dataDir = TOWPATH_DIR, databaseUrl, checkout = ROOT }: SeedOptions = {},
  more: (
    db: DatabaseHandle,
    seeded: Workspace,
    addWorkspace: () => Promise<Workspace>,
  ) => Promise<unknown> = async () => {},
): Promise<Workspace> {
  const load = (file: string) => import(join(checkout, 'server', file))
  const database: { openDatabase: typeof openDatabase } = await load('storage/database/open-database.ts')
  const keys: { createKey: typeof createKey } = await load('features/accounts/access/keys.ts')
  const db = await database.openDatabase({ dataDir, databaseUrl })
  const addWorkspace = async (): Promise<Workspace> => {
    const [publicId, at] = [`bench${crypto.randomUUID().slice(0, 8)}`, Date.now()]
    const row = { public_id: publicId, name: 'bench', plan: 'enterprise', created_at: at, updated_at: at }
    const { id } = await db.write((connection) =>
      connection.insertInto('workspaces').values(row).returning('id').executeTakeFirstOrThrow(),
    )
    const { key } = await keys.createKey({ db, now: Date.now }, id, 'bench')
    return { workspaceId: id, publicId, key }
  }
  const seeded = await addWorkspace()
  await seedLinks(db, seeded.workspaceId, links)
  await more(db, seeded, addWorkspace)
  await db.close()
  return seeded
}

type Row<Table extends keyof Tables> = Partial<Insertable<Tables[Table]>>

export async function addRows<Table extends keyof Tables>(
  db: DatabaseHandle,
  table: Table,
  count: number,
  toRow: (n: number) => Row<Table>,
) {
  for (let from = 1; from <= count; from += 1000) {
    const rows = Array.from({ length: Math.min(1000, count - from + 1) }, (_, i) => toRow(from + i))
    const values = rows as never
    await db.write((connection) => connection.insertInto(table).values(values).execute())
  }
}

/** Links with the slugs bench1, bench2, … @param domain one of the workspace, or '' for the default domain */
export function seedLinks(
  db: DatabaseHandle,
  workspaceId: number,
  links: number,
  domain = '',
  { prefix = 'bench', ...settings }: { prefix?: string; rules?: string; split?: string } = {},
) {
  const at = Date.now()
  return addRows(db, 'links', links, (n) => ({
    workspace_id: workspaceId,
    domain,
    geo_targeting: '{}',
    device_targeting: '{}',
    archived: 0,
    ...settings,
    clicks_used: 0,
    forward_query: 0,
    track_conversions: 0,
    redirect_status: 302,
    clicks: 0,
    leads: 0,
    slug: `${prefix}${n}`,
    slug_key: `${prefix}${n}`,
    search_text: `${prefix}${n}`,
    destination_url: `https://example.com/landing/${n}?ref=${n}`,
    created_at: at + n,
    updated_at: at + n,
  }))
}

export function seedDomain(db: DatabaseHandle, workspaceId: number, domain: string) {
  const at = Date.now()
  const verified = { token: 'bench', verified_at: at, is_primary: 1, case_sensitive: 0 }
  return addRows(db, 'domains', 1, () => ({
    workspace_id: workspaceId,
    domain,
    ...verified,
    created_at: at,
    updated_at: at,
  }))
}

/** Calls `/v1` + path: POST when there is a body. @returns `data` of the answer */
export async function callApi<Data>(
  { port }: Pick<Contender, 'port'>,
  key: string,
  path: string,
  body?: object,
  method = body ? 'POST' : 'GET',
): Promise<Data> {
  const headers: Record<string, string> = { Authorization: `Bearer ${key}` }
  const isForm = body instanceof FormData
  if (body && !isForm) headers['Content-Type'] = 'application/json'
  const init = { method, headers, body: isForm ? body : body && JSON.stringify(body) }
  const answer = await fetch(`http://127.0.0.1:${port}/v1${path}`, init)
  if (!answer.ok) throw new Error(`${path} was answered with ${answer.status}: ${await answer.text()}`)
  return ((await answer.json()) as { data: Data }).data
}

// --- Load as fast as it is answered: wrk (Debian's package `wrk`)

export interface LoadResult {
  perSecond: number
  p50Ms: number
  p99Ms: number
  failed: number
  /** Processor time of the server for each request, in microseconds. */
  processorUs: number
}

/** Requests with a phone's headers, each to the next of `slugs` slugs. */
export const redirectScript = ({ slugs = 999, prefix = 'bench', query = '', host = '' } = {}) => `
wrk.headers["User-Agent"] = "${USER_AGENT}"
wrk.headers["Referer"] = "https://www.instagram.com/"
wrk.headers["Accept"] = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
wrk.headers["Accept-Language"] = "en-GB,en;q=0.9"
${host && `wrk.headers["Host"] = "${host}"`}
local n = 0
request = function()
  n = n % ${slugs} + 1
  return wrk.format("GET", "/${prefix}" .. n .. "${query}")
end
`

/** POST requests, each from another address, because an address has limits. @param path, body Lua that makes them of `n` */
export const postScript = (path: string, headers: Record<string, string>, body: string, first: number) => `
wrk.headers["User-Agent"] = "${USER_AGENT}"
${Object.entries(headers)
  .map(([name, value]) => `wrk.headers["${name}"] = "${value}"`)
  .join('\n')}
local n = ${first}
request = function()
  n = n + 1
  wrk.headers["X-Forwarded-For"] = string.format("10.%d.%d.%d", math.floor(n / 65536) % 256, math.floor(n / 256) % 256, n % 256)
  return wrk.format("POST", ${path}, nil, ${body})
end
`

const REPORT = `
done = function(summary, latency)
  local bad = summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.status + summary.errors.timeout
  io.write(string.format("RESULT %f %f %f %d\\n", summary.requests / summary.duration * 1000000,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000, bad))
end
`

/** @param options.script Lua code that makes the requests */
export async function load(
  { port, pid }: Pick<Contender, 'port' | 'pid'>,
  { connections = 32, seconds = 2, script = redirectScript() } = {},
): Promise<LoadResult> {
  if (!Bun.which('wrk')) throw new Error('The load generator wrk is missing. On Debian: apt-get install wrk')
  const file = join(HOME, `${crypto.randomUUID()}.lua`)
  writeFileSync(file, script + REPORT)
  const command = ['wrk', '-t1', `-c${connections}`, `-d${seconds}s`, '-s', file, `http://127.0.0.1:${port}`]
  const before = readProcessorMs(pid)
  const output = await new Response(spawnOn(1, command).stdout).text()
  const processorMs = readProcessorMs(pid) - before
  const [, perSecond, p50Ms, p99Ms, failed] = /RESULT (\S+) (\S+) (\S+) (\d+)/.exec(output)?.map(Number) ?? []
  if (!perSecond || p50Ms === undefined || p99Ms === undefined) throw new Error(`wrk said:\n${output}`)
  const processorUs = (processorMs * 1000) / (perSecond * seconds)
  return { perSecond, p50Ms, p99Ms, failed: failed ?? 0, processorUs }
}

export const LOAD_COLUMNS = ['requests/s', 'p50 ms', 'p99 ms', 'µs a request']
export const toLoadCells = (rounds: LoadResult[]) => [
  formatCount(medianOf(rounds, 'perSecond')),
  medianOf(rounds, 'p50Ms').toFixed(2),
  medianOf(rounds, 'p99Ms').toFixed(2),
  medianOf(rounds, 'processorUs').toFixed(1),
]

// --- Redirects at a steady pace, beside other work

const PER_SECOND = 500
/** Work is under way before redirects are measured beside it. */
const LEAD_MS = 1_000

export interface PacedResult {
  p50Ms: number
  p99Ms: number
  maxMs: number
  failed: number
}

/** @param times milliseconds of answers, -1 where there was none */
export function summarizeTimes(times: number[]): PacedResult {
  const sorted = times.map((ms) => (ms < 0 ? GIVE_UP_MS : ms)).sort((a, b) => a - b)
  const at = (part: number) =>
    sorted[Math.min(Math.floor(sorted.length * part), sorted.length - 1)] ?? Number.NaN
  return { p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1), failed: times.filter((ms) => ms < 0).length }
}

/** Starts a load in a process of its own. */
export function startPacedLoad(port: number, seconds = 1e9, perSecond = PER_SECOND) {
  const words = [port, seconds, perSecond].map(String)
  const child = spawnOn(1, [join(import.meta.dir, 'pace.ts'), ...words], { first: true })
  let times: number[] = []
  const ended = (async () => {
    const decoder = new TextDecoder()
    let rest = ''
    for await (const chunk of child.stdout) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      times.push(...lines.map(Number))
    }
  })()
  return {
    ended,
    /** @returns the times since the last call */
    takeTimes() {
      const taken = times
      times = []
      return taken
    },
    async stop() {
      child.kill()
      await ended
    },
  }
}

/** @returns what the requests of some seconds took */
export async function loadAtPace(port: number, seconds: number): Promise<PacedResult> {
  const running = startPacedLoad(port, seconds)
  await running.ended
  return summarizeTimes(running.takeTimes())
}

export interface BesideRound {
  alone: PacedResult
  beside: PacedResult[]
}

/**
 * Measures redirects alone, and then beside some work.
 * @param start starts the work. With `stop`, redirects are measured once; without, as long as the work lasts
 */
export async function loadBeside(
  port: number,
  seconds: number,
  start: () => { ended: Promise<unknown>; stop?: () => void },
): Promise<BesideRound> {
  const alone = await loadAtPace(port, seconds)
  const { ended, stop } = start()
  let isRunning = true
  const over = ended.finally(() => {
    isRunning = false
  })
  await Bun.sleep(LEAD_MS)
  const beside: PacedResult[] = []
  do {
    const result = await loadAtPace(port, seconds)
    // A window in which the work has ended is in part one without it.
    if (isRunning || beside.length === 0) beside.push(result)
  } while (isRunning && !stop)
  stop?.()
  await over
  return { alone, beside }
}

/** Medians of the rounds. */
export function summarizeBeside(rounds: BesideRound[]) {
  const all = rounds.flatMap(({ alone, beside }) => [alone, ...beside])
  const of = (figure: 'p50Ms' | 'p99Ms' | 'maxMs') => {
    const alone = median(rounds.map((round) => round.alone[figure]))
    const beside = median(rounds.map((round) => medianOf(round.beside, figure)))
    return { alone, beside, ratio: beside / alone }
  }
  return { p50: of('p50Ms'), p99: of('p99Ms'), max: of('maxMs'), failed: sumOf(all, 'failed') }
}

/** @param work what ran beside redirects, such as `during uploads` */
export function toBesideTable(work: string, rounds: BesideRound[], ratioMax: number): string {
  const { p50, p99, max, failed } = summarizeBeside(rounds)
  const toCells = (of: 'alone' | 'beside') => [p50, p99, max].map((figure) => figure[of].toFixed(2))
  return toTable(
    ['redirects at a steady pace', 'p50 ms', 'p99 ms', 'longest ms', 'p99 / alone', 'failed'],
    [
      ['alone', ...toCells('alone'), '1.00', ''],
      [work, ...toCells('beside'), `${p99.ratio.toFixed(2)}, ${atMost(ratioMax, p99.ratio)}`, failed],
    ],
  )
}
