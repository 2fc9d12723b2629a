// Starts the hit worker as a process of its own and connects it with the server. A fault in the engine's native code
// ends that process and not the redirects, and the process's memory is free again when the worker exits.

import { join } from 'node:path'
import { postToChild } from '../../../lib/concurrency/post-to-child.ts'
import type { MessageFromWorker, MessageToWorker, WorkerSettings } from './protocol.ts'

export interface WorkerProcess {
  post(message: MessageToWorker): void
  /** Ends the worker at once, in the middle of whatever it does. */
  kill(): void
}

/** Starts a worker. `onExit` is called once, whatever way the worker ends. */
export type StartWorker = (
  settings: WorkerSettings,
  listener: { onMessage(message: MessageFromWorker): void; onExit(reason: Error): void },
) => WorkerProcess

export const startWorkerProcess: StartWorker = (settings, listener) => {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'main.ts')], {
    stdin: 'ignore',
    stdout: 'inherit',
    stderr: 'inherit',
    serialization: 'advanced',
    ipc: listener.onMessage,
    onExit: (_, code, signal) => listener.onExit(new Error(`The hit worker ended with ${signal ?? code}`)),
  })
  const post = (message: MessageToWorker) => postToChild(child, message)
  post({ type: 'settings', settings })
  return { post, kill: () => child.kill('SIGKILL') }
}

export interface ServerConnection {
  settings: WorkerSettings
  send(message: MessageFromWorker): void
  /** Sets the listener. Messages that came before go to the listener first. */
  onMessage(listener: (message: MessageToWorker) => void): void
}

/** The worker's end. When the server is gone, the process ends at once, as it would as a part of the server. */
export async function connectToServer(): Promise<ServerConnection> {
  const settings = Promise.withResolvers<WorkerSettings>()
  const early: MessageToWorker[] = []
  let handle: (message: MessageToWorker) => void = (message) => early.push(message)
  process.on('message', (message: MessageToWorker) => {
    if (message.type === 'settings') settings.resolve(message.settings)
    else handle(message)
  })
  process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))
  // A terminal interrupts all processes of a command. Ignore that: the server says when this process has to end.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {})
  return {
    settings: await settings.promise,
    send: (message) => void process.send?.(message),
    onMessage(listener) {
      handle = listener
      for (const message of early.splice(0)) listener(message)
    },
  }
}
