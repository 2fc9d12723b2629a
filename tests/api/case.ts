// One request that is sent to see what becomes of it.

import { jsonOf } from './hostile.ts'

export interface Case {
  what: string
  /** Must it be refused? Else it is odd, and may be taken or not, as long as nothing breaks. */
  bad: boolean
  /** Where the contract names the status. */
  status?: number
  url: string
  headers?: Record<string, string>
  body?: string | Uint8Array
}

/** Some of the pool: all of it, at each of some hundred places, would take minutes. */
export type Pick = <T>(pool: readonly T[], count: number) => T[]

/** Short enough for a list of failures. */
export const show = (value: unknown) => {
  const text = typeof value === 'string' ? JSON.stringify(value) : jsonOf(value)
  return text.length > 80 ? `${text.slice(0, 60)}… (${text.length})` : text
}
