// Records the system calls of a process with strace, and checks that answers are sent after the sync of their writes.

import { canInstallPackages, installPackage } from '../support/processes/debian-package.ts'

const CALLS = 'fdatasync,fsync,pwrite64,sendto,sendmsg,write,writev'

/**
 * @returns the command that starts a program and writes its system calls to a file. `-yy` prints the file or
 * connection of each descriptor. With `-D`, the program stays our child and gets our signals.
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

interface FaultOrder {
  pid: number
  /** Only calls on these files fail. */
  files: string[]
  /** One call, or several with commas between them. */
  call: string
  /** Such as ENOSPC. */
  error: string
  /** Every nth call fails. */
  every: number
  /** The file to which each failed call is written, marked as INJECTED. */
  faults: string
}

/** @returns the command that makes calls of a running process fail until it is ended (SIGINT) */
export const toFaultCommand = ({ pid, files, call, error, every, faults }: FaultOrder) => [
  ...['strace', '-f', '-p', String(pid), '-o', faults, ...files.flatMap((file) => ['-P', file])],
  ...['-s', '0', '-e', `trace=${call}`, '-e', `inject=${call}:error=${error}:when=${every}+${every}`],
]

/** @returns why strace does not work on this machine, or undefined when it works. Installs strace if needed. */
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
  /** The name of the file that a commit is written to. */
  log: string
  /** The first bytes of the answers that acknowledge a write. */
  answers: string[]
  /** The port for clients. An answer is first written inside the process, to the listener that has the clients. */
  port: string
}

export interface TraceSummary {
  /** The number of answers that were sent to a client. */
  answers: number
  /** How often an answer was written, to a client or inside the process, while the log had unsynced writes. */
  beforeSync: number
  /** The number of answers without a new write to the log before them. */
  withoutNewWrite: number
  syncs: number
}

/** Reads the output of strace line by line. All writes to the log before an answer must be synced. */
export function parseTrace(trace: string, { log, answers, port }: TraceQuery): TraceSummary {
  const summary: TraceSummary = { answers: 0, beforeSync: 0, withoutNewWrite: 0, syncs: 0 }
  // strace prints two lines for a call that another thread interrupts. The end of the sync is what counts.
  const syncing = new Set<string>()
  let dirty = false
  let written = false
  for (const line of trace.split('\n')) {
    const [, thread = '', call = ''] = /^(\d+) +(.*)$/.exec(line) ?? []
    const isOnLog = call.includes(`${log}>`)
    if (/^(pwrite64|write|writev)\(/.test(call) && isOnLog) {
      dirty = true
      written = true
    } else if (/^f(data)?sync\(/.test(call) && isOnLog) {
      if (call.includes('<unfinished')) syncing.add(thread)
      else if (call.endsWith('= 0')) recordSync()
    } else if (/^<\.\.\. f(data)?sync resumed/.test(call) && syncing.delete(thread)) {
      if (call.endsWith('= 0')) recordSync()
    } else if (
      /^(sendto|sendmsg|write|writev)\(/.test(call) &&
      answers.some((answer) => call.includes(`"${answer}`))
    ) {
      if (dirty) summary.beforeSync++
      if (!call.includes(`:${port}->`)) continue
      summary.answers++
      if (!written) summary.withoutNewWrite++
      written = false
    }
  }
  function recordSync() {
    dirty = false
    summary.syncs++
  }
  return summary
}
