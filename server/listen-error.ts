// Error messages for an address that cannot be listened on, for the operator.

import { describeError } from './lib/log.ts'

export class ListenError extends Error {
  /** @param settings the names of those that say the address */
  constructor(settings: string, host: string | undefined, port: number, cause: unknown) {
    const address = `${host ?? 'every address'}, port ${port}`
    const reason = describeError(cause).error
    super(`${settings}: ${address} cannot be used (${reason}). Stop what uses it, or set another.`)
  }
}
