// Child processes: their start, their messages, and their end together with their parent.

import { readdirSync, writeFileSync } from 'node:fs'
import { setPriority } from 'node:os'

export interface ChildProcess<Sent> {
  /** A process that is ending gets nothing, and `onExit` follows soon. */
  post(message: Sent): void
  /** Kills the process immediately. */
  kill(): void
}

interface ChildOptions<Received> {
  /** Other users of the machine can read it: no secret belongs in it. */
  command: string[]
  /** By default that of this process. */
  env?: Record<string, string>
  onMessage(message: Received): void
  /** Called once. @param end the signal, or the exit code */
  onExit(end: string | number | null): void
}

/** Starts a process that writes to the output of this one. */
export function startChild<Sent, Received>({
  command,
  env,
  onMessage,
  onExit,
}: ChildOptions<Received>): ChildProcess<Sent> {
  const child = Bun.spawn(command, {
    stdin: 'ignore',
    stdout: 'inherit',
    stderr: 'inherit',
    ...(env && { env }),
    serialization: 'advanced',
    ipc: onMessage,
    onExit: (_, code, signal) => onExit(signal === null ? code : String(signal)),
  })
  return {
    post(message) {
      if (child.exitCode !== null || child.signalCode !== null) return
      try {
        child.send(message)
      } catch (error) {
        // The runtime closes the channel before it notices the exit.
        if ((error as { code?: unknown }).code !== 'ERR_IPC_CHANNEL_CLOSED') throw error
      }
    },
    kill: () => child.kill('SIGKILL'),
  }
}

/**
 * The child's side. The process ends immediately when its parent ends.
 * @param onSignal A terminal and systemd send a signal to all processes of a command. By default it is ignored: the
 * parent decides when this process ends
 * @returns the function that sends a message to the parent
 */
export function connectToParent<Sent, Received>(
  onMessage: (message: Received) => void,
  onSignal: () => void = () => {},
): (message: Sent) => void {
  process.on('message', onMessage)
  process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => onSignal())
  return (message) => void process.send?.(message)
}

/** Gives a tenth of the share of a thread with niceness 0: enough to make progress on one core under full load. */
export const NICENESS = 10
/**
 * From 0, which other processes have, to 1000: the higher, the sooner the kernel ends the process when memory runs out.
 */
export const OOM_SCORE = 500

/**
 * Lowers the priority of this process: others go first when the machine is busy, and the kernel kills this one first
 * when it runs out of memory. On Linux each thread has its own niceness, and new threads inherit it: call this before
 * anything else.
 */
export function lowerPriority(): void {
  const isLinux = process.platform === 'linux'
  for (const thread of isLinux ? readdirSync('/proc/self/task') : [0]) {
    try {
      setPriority(Number(thread), NICENESS)
    } catch (error) {
      // A thread may have ended in the meantime.
      if (!isGone(error)) throw error
    }
  }
  if (isLinux) writeFileSync('/proc/self/oom_score_adj', String(OOM_SCORE))
}

const isGone = (error: unknown) =>
  /^(ENOENT|ESRCH|ERR_SYSTEM_ERROR)$/.test((error as NodeJS.ErrnoException).code ?? '')
