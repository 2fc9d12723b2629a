// Lets a long command end in order when the operator stops it.

import { CommandError } from './command.ts'

/** @returns a signal that aborts on SIGINT and SIGTERM, with this sentence */
export function endOnSignals(sentence: string): AbortSignal {
  const controller = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM']) {
    process.once(name, () => controller.abort(new CommandError(sentence)))
  }
  return controller.signal
}
