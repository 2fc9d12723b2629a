// Messages to a process that this one has started.

import type { Subprocess } from 'bun'

/**
 * Sends a message. A process that ends gets nothing, and its `onExit` follows in a moment: the runtime closes the channel before
 * it notices the exit.
 */
export function postToChild(
  child: Pick<Subprocess, 'exitCode' | 'signalCode' | 'send'>,
  message: unknown,
): void {
  if (child.exitCode !== null || child.signalCode !== null) return
  try {
    child.send(message)
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ERR_IPC_CHANNEL_CLOSED') throw error
  }
}
