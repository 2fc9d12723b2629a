// Watches what a process asks of the kernel.

import { canInstallPackages, installPackage } from '../support/processes/debian-package.ts'

const CALLS = 'fdatasync,fsync,pwrite64,sendto,sendmsg,write,writev'

/**
 * What a program is started through, to have its calls written to a file. `-yy` names the file or connection behind each number;
 * with `-D` the program stays our own child, to whom signals go, and strace is its.
 */
export const toStraceCommand = (file: string) => [
  'strace',
  '-D',
  '-f',
  '-yy',
  '-s',
  '48',
  '-o',
  file,
  '-e',
  `trace=${CALLS}`,
]

/** Why nothing can be watched here; undefined where it can. */
export function findStraceProblem(): string | undefined {
  if (!Bun.which('strace') && canInstallPackages()) {
    try {
      installPackage('strace', 'install it by hand.')
    } catch (error) {
      return String(error)
    }
  }
  if (!Bun.which('strace')) return 'the program strace is missing'
  const run = Bun.spawnSync(['strace', '-f', '-o', '/dev/null', 'true'], { stdout: 'ignore', stderr: 'pipe' })
  return run.success ? undefined : `it is not allowed: ${run.stderr.toString().trim().split('\n')[0]}`
}

interface TraceQuery {
  /** What is written to before a commit. */
  log: string
  /** How an answer begins that acknowledges something. */
  answers: string[]
  /** Where clients are connected to. An answer is first written within the process, to the front that has them. */
  port: string
}

export interface TraceSummary {
  /** Answers that left for a client. */
  answers: number
  /** Times that an answer was written, for a client or within, while something in the log was not on the disk. */
  beforeSync: number
  /** Answers before which nothing new was written to the log at all. */
  withoutNewWrite: number
  syncs: number
}

/** Goes through the calls of `strace` in their order: what was written to the log before an answer must be synced. */
export function parseTrace(trace: string, { log, answers, port }: TraceQuery): TraceSummary {
  const watched: TraceSummary = { answers: 0, beforeSync: 0, withoutNewWrite: 0, syncs: 0 }
  // A call that another thread interrupts is told in two lines; what counts is when a sync ends.
  const syncing = new Set<string>()
  let dirty = false
  let written = false
  for (const line of trace.split('\n')) {
    const [, thread = '', call = ''] = /^(\d+) +(.*)$/.exec(line) ?? []
    const onLog = call.includes(`${log}>`)
    if (/^(pwrite64|write|writev)\(/.test(call) && onLog) {
      dirty = true
      written = true
    } else if (/^f(data)?sync\(/.test(call) && onLog) {
      if (call.includes('<unfinished')) syncing.add(thread)
      else if (call.endsWith('= 0')) synced()
    } else if (/^<\.\.\. f(data)?sync resumed/.test(call) && syncing.delete(thread)) {
      if (call.endsWith('= 0')) synced()
    } else if (
      /^(sendto|sendmsg|write|writev)\(/.test(call) &&
      answers.some((answer) => call.includes(`"${answer}`))
    ) {
      if (dirty) watched.beforeSync++
      if (!call.includes(`:${port}->`)) continue
      watched.answers++
      if (!written) watched.withoutNewWrite++
      written = false
    }
  }
  function synced() {
    dirty = false
    watched.syncs++
  }
  return watched
}
