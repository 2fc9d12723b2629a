// Starts the hit worker as a separate process and connects it with the server. A fault in the engine's native code
// crashes only that process, and its exit releases its memory.

import { join } from 'node:path'
import { type ChildProcess, connectToParent, startChild } from '../../../lib/child-process.ts'
import type { MessageFromWorker, MessageToWorker, WorkerSettings } from './protocol.ts'

export type WorkerProcess = ChildProcess<MessageToWorker>

/** Starts a worker. `onExit` is called once, whatever the reason of the exit. */
export type StartWorker = (
  settings: WorkerSettings,
  listener: { onMessage(message: MessageFromWorker): void; onExit(reason: Error): void },
) => WorkerProcess

export const startWorkerProcess: StartWorker = (settings, listener) => {
  const child = startChild<MessageToWorker, MessageFromWorker>({
    command: [process.execPath, join(import.meta.dir, 'main.ts')],
    onMessage: listener.onMessage,
    onExit: (end) => listener.onExit(new Error(`The hit worker ended with ${end}`)),
  })
  child.post({ type: 'settings', settings })
  return child
}

export interface ServerConnection {
  settings: WorkerSettings
  send(message: MessageFromWorker): void
  /** Sets the listener. It first gets the messages that have already arrived. */
  onMessage(listener: (message: MessageToWorker) => void): void
}

/** The worker's side of the connection. */
export async function connectToServer(): Promise<ServerConnection> {
  const settings = Promise.withResolvers<WorkerSettings>()
  const early: MessageToWorker[] = []
  let handle: (message: MessageToWorker) => void = (message) => early.push(message)
  const send = connectToParent<MessageFromWorker, MessageToWorker>((message) => {
    if (message.type === 'settings') settings.resolve(message.settings)
    else handle(message)
  })
  return {
    settings: await settings.promise,
    send,
    onMessage(listener) {
      handle = listener
      for (const message of early.splice(0)) listener(message)
    },
  }
}
