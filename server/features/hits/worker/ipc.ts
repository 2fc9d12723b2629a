// The line between the server and its ship worker, which is a process of its own: a fault in the engine's native code
// ends that process and not the redirects, and its memory goes with it when there is nothing to do.

import { join } from 'node:path'
import type { MessageFromWorker, MessageToWorker, WorkerSettings } from './protocol.ts'

export interface WorkerProcess {
  post(message: MessageToWorker): void
  /** At once, in the middle of whatever it does. */
  kill(): void
}

/** Starts a worker. `ended` is told once, whatever way it ends. */
export function startWorkerProcess(
  settings: WorkerSettings,
  on: { message(message: MessageFromWorker): void; ended(reason: Error): void },
): WorkerProcess {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'main.ts')], {
    stdin: 'ignore',
    stdout: 'inherit',
    stderr: 'inherit',
    serialization: 'advanced',
    ipc: on.message,
    onExit: (_, code, signal) => on.ended(new Error(`The ship worker ended with ${signal ?? code}`)),
  })
  const post = (message: MessageToWorker) => {
    // Of one that has just ended we hear in a moment.
    if (child.exitCode === null && child.signalCode === null) child.send(message)
  }
  post({ type: 'settings', settings })
  return { post, kill: () => child.kill('SIGKILL') }
}

export interface ServerConnection {
  settings: WorkerSettings
  send(message: MessageFromWorker): void
  /** What was said before is told first. */
  onMessage(take: (message: MessageToWorker) => void): void
}

/** The worker's end. Without its server the process ends at once, as it would have as a part of it. */
export async function connectToServer(): Promise<ServerConnection> {
  const settings = Promise.withResolvers<WorkerSettings>()
  const early: MessageToWorker[] = []
  let take: (message: MessageToWorker) => void = (message) => early.push(message)
  process.on('message', (message: MessageToWorker) => {
    if (message.type === 'settings') settings.resolve(message.settings)
    else take(message)
  })
  process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))
  // A terminal interrupts all processes of a command: the server says when this one is to end.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {})
  return {
    settings: await settings.promise,
    send: (message) => void process.send?.(message),
    onMessage(listener) {
      take = listener
      for (const message of early.splice(0)) listener(message)
    },
  }
}
