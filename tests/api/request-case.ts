// One request that is sent to see what becomes of it.

import { toRawJson } from './hostile-input.ts'

export interface RequestCase {
  description: string
  /** Must it be refused? Else it is odd, and may be taken or not, as long as nothing breaks. */
  mustBeRefused: boolean
  /** Where docs/contract.md names the status. */
  status?: number
  url: string
  headers?: Record<string, string>
  body?: string | Uint8Array
}

/** Some of the pool: all of it, at each of some hundred places, would take minutes. */
export type PickSome = <T>(pool: readonly T[], count: number) => T[]

/** Short enough for a list of failures. */
export const toShortText = (value: unknown) => {
  const text = typeof value === 'string' ? JSON.stringify(value) : toRawJson(value)
  return text.length > 80 ? `${text.slice(0, 60)}… (${text.length})` : text
}
