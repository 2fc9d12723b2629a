// Records the system calls of a process with strace, checks that answers are sent after the sync of their writes, and
// counts the syncs of the thread that answers.

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
  // A whole page of SQLite's log, in which the name of a write is looked for.
  '-s',
  '4096',
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
  'strace',
  '-f',
  '-p',
  String(pid),
  '-o',
  faults,
  ...files.flatMap((file) => ['-P', file]),
  '-s',
  '0',
  '-e',
  `trace=${call}`,
  '-e',
  `inject=${call}:error=${error}:when=${every}+${every}`,
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

/**
 * Lists the calls in the order in which they ended, one on each line: strace prints two lines for a call that another thread
 * interrupts. A trace of a process that still runs may end within a call: that one is left out.
 */
export function listEndedCalls(trace: string): string[] {
  const begun = new Map<string, string>()
  return trace.split('\n').flatMap((line) => {
    const [thread = ''] = line.split(' ', 1)
    const [, beginning] = /^(.*)<unfinished \.\.\.>$/.exec(line) ?? []
    if (beginning === undefined)
      return line.replace(/^\d+ +<\.\.\. \w+ resumed>/, () => begun.get(thread) ?? '')
    begun.set(thread, beginning)
    return []
  })
}

interface TraceQuery {
  /** The name of the database file. Commits are written to its log. */
  database: string
  /** The names of the writes. Each is in the bytes that its commit writes to the log. */
  names: string[]
  /** The first bytes of the answers that acknowledge a write. */
  answers: string[]
  /** The port for clients. An answer is first written inside the process, to the listener that has the clients. */
  port: string
  /** The thread that answers requests. */
  thread: number
}

export interface TraceSummary {
  /** The number of answers that were sent to a client. */
  answers: number
  /** How often an answer was sent while fewer writes were synced than answers sent. */
  beforeSync: number
  /** Syncs of the log, by any thread. */
  syncs: number
  /**
   * Syncs of the database or its log by the thread that answers, between the first and the last answer. A log that starts
   * anew is not counted: SQLite syncs its first 32 bytes by itself, after a checkpoint and so once a second at most.
   */
  ownSyncs: number
}

/** Reads the output of strace line by line. */
export function parseTrace(trace: string, query: TraceQuery): TraceSummary {
  const summary: TraceSummary = { answers: 0, beforeSync: 0, syncs: 0, ownSyncs: 0 }
  const isAnswer = (call: string) =>
    /^(sendto|sendmsg|write|writev)\(/.test(call) &&
    call.includes(`:${query.port}->`) &&
    query.answers.some((answer) => call.includes(`"${answer}`))
  const unwritten = new Map(query.names.map((name) => [name, new RegExp(`${name}(?!\\d)`)]))
  const written = new Set<string>()
  const synced = new Set<string>()
  // strace prints two lines for a call that another thread interrupts. A sync has what was written before its begin, and
  // counts from its end on.
  const syncing = new Map<string, string[]>()
  let ownSyncs = 0
  let startsLog = false
  for (const line of trace.split('\n')) {
    const [, thread = '', call = ''] = /^(\d+) +(.*)$/.exec(line) ?? []
    const isOnLog = call.includes(`${query.database}-wal>`)
    const isOwn = Number(thread) === query.thread
    if (isOnLog && /^(pwrite64|write|writev)\(/.test(call)) {
      if (isOwn) startsLog = /, 32, 0(\) += 32| <unfinished \.\.\.>)$/.test(call)
      for (const [name, pattern] of unwritten)
        if (pattern.test(call)) {
          written.add(name)
          unwritten.delete(name)
        }
    } else if (/^f(data)?sync\(/.test(call)) {
      if (isOwn && call.includes(`${query.database}`) && !(isOnLog && startsLog)) ownSyncs++
      if (isOnLog) syncing.set(thread, [...written])
      if (call.endsWith('= 0')) endSync(thread)
    } else if (/^<\.\.\. f(data)?sync resumed/.test(call) && call.endsWith('= 0')) endSync(thread)
    else if (isAnswer(call)) {
      summary.answers++
      if (synced.size < summary.answers) summary.beforeSync++
      if (summary.answers === 1) ownSyncs = 0
      summary.ownSyncs = ownSyncs
    }
  }
  function endSync(thread: string) {
    const names = syncing.get(thread)
    if (!names) return
    syncing.delete(thread)
    for (const name of names) synced.add(name)
    summary.syncs++
  }
  return summary
}
