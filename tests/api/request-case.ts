// A request with unusual input, and the answer that it must get.

import { toRawJson } from './hostile-input.ts'

export interface RequestCase {
  description: string
  /** True when the request must be refused. Otherwise the server may accept or refuse it, but not fail. */
  mustBeRefused: boolean
  /** The expected status, when docs/contract.md names one. */
  status?: number
  url: string
  headers?: Record<string, string>
  body?: string | Uint8Array
}

/** Picks some items of a pool: sending all of them to some hundred fields would take minutes. */
export type PickSome = <T>(pool: readonly T[], count: number) => T[]

/** A value as text, short enough for a list of failures. */
export const toShortText = (value: unknown) => {
  const text = typeof value === 'string' ? JSON.stringify(value) : toRawJson(value)
  return text.length > 80 ? `${text.slice(0, 60)}… (${text.length})` : text
}
