// The count and the hash of a table's rows, equal for equal rows in SQLite and PostgreSQL.

import { createHash } from 'node:crypto'

export interface TableDigest {
  rows: number
  /** SHA-256 of all values, row by row in the order of the key. */
  hash: string
}

export interface RowDigester {
  /** Adds the values of a row, in the order of the columns. */
  add(values: unknown[]): void
  finish(): TableDigest
}

/** Characters hashed at a time: a call of the hash costs as much as some rows. */
const CHUNK_LENGTH = 64 * 1024

export function createRowDigester(): RowDigester {
  const hash = createHash('sha256')
  let rows = 0
  let chunk = ''
  return {
    add(values) {
      rows++
      // JSON separates the values without ambiguity.
      chunk += `${JSON.stringify(values)}\n`
      if (chunk.length < CHUNK_LENGTH) return
      hash.update(chunk)
      chunk = ''
    },
    finish: () => ({ rows, hash: hash.update(chunk).digest('hex') }),
  }
}

/**
 * Converts a value to a form that both engines and JSON can represent. PostgreSQL has no NUL in texts, and writes bytes
 * in hexadecimal.
 */
export function toPlainValue(value: unknown): unknown {
  if (typeof value === 'string') return value.includes('\0') ? value.replaceAll('\0', '\uFFFD') : value
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString('hex')}`
  return value
}
