// The harness of all benchmarks: options, alternating rounds, medians, processor time, resident memory and tables.

import { readdirSync, readFileSync } from 'node:fs'
import { listWorkerProcesses } from '../tests/support/processes/worker-processes.ts'

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

/** The upper one of the two in the middle. */
export const median = (values: number[]) =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

export const medianOf = <Key extends string>(results: Record<Key, number>[], key: Key) =>
  median(results.map((result) => result[key]))

/** The median of the ratios of the rounds. Both sides of a ratio ran side by side. */
export const medianRatio = <Key extends string>(
  results: Record<Key, number>[],
  others: Record<Key, number>[],
  key: Key,
) => median(results.map((result, round) => result[key] / (others[round]?.[key] ?? Number.NaN)))

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

/** The text of a file in /proc; '' once the process has ended. */
function readProcess(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}

function listThreads(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`)
  } catch {
    return []
  }
}

/** A process and all that it has started (Linux: proc(5), `/proc/pid/task/tid/children`). */
export function listProcesses(pid: number): number[] {
  const children = listThreads(pid).flatMap((task) =>
    readProcess(pid, `task/${task}/children`).trim().split(' ').filter(Boolean),
  )
  return [pid, ...children.map(Number).flatMap(listProcesses)]
}

/** Linux: USER_HZ, which has been 100 on every common machine. */
const MS_PER_TICK = 10

/** Milliseconds of processor time of all threads, and of those that have ended (proc(5), fields 14 and 15 of `stat`). */
export function readProcessorMs(pid: number, withEndedChildren = false): number {
  if (pid === process.pid) {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1000
  }
  const fields = readProcess(pid, 'stat').split(') ').at(-1)?.split(' ') ?? []
  const ticks = fields.slice(11, withEndedChildren ? 15 : 13)
  return ticks.reduce((sum, each) => sum + Number(each), 0) * MS_PER_TICK
}

/** Milliseconds of processor time of some processes together. */
export const sumProcessorMs = (pids: number[]) => pids.reduce((sum, pid) => sum + readProcessorMs(pid), 0)

/** Milliseconds of processor time of a process and all that it has started. */
export const readTreeProcessorMs = (pid: number) =>
  listProcesses(pid).reduce((sum, each) => sum + readProcessorMs(each, true), 0)

/** @returns milliseconds of processor time in a second without a request: polls, heartbeats and timers */
export async function measureIdleMs(pid: number, seconds: number): Promise<number> {
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
