// What a driver's error means, in one place for both engines.

import { Failure, unavailable } from '../../lib/failure.ts'
import { describeError, log } from '../../lib/log.ts'

const toErrorFields = (error: unknown) =>
  error instanceof Error
    ? (error as Error & { code?: string; constraint?: string; syscall?: string })
    : undefined

/**
 * Does this error say that a unique constraint was violated? `columns` narrows it to the constraint over exactly
 * those columns, named `index`: PostgreSQL reports the name, SQLite the columns.
 */
export function isUniqueViolation(error: unknown, unique?: { index: string; columns: string[] }): boolean {
  const e = toErrorFields(error)
  if (!e) return false
  if (e.code === '23505') return !unique || e.constraint === unique.index
  if (e.code !== 'SQLITE_CONSTRAINT_UNIQUE' && e.code !== 'SQLITE_CONSTRAINT_PRIMARYKEY') return false
  if (!unique) return true
  const named = e.message
    .split(': ')
    .at(-1)
    ?.split(', ')
    .map((column) => column.split('.').at(-1))
  return named?.join() === unique.columns.join()
}

// PostgreSQL: connection exceptions (08), shutting down or starting up (57P), out of resources (53), rolled back to
// let another go first (40001, 40P01), query cancelled by our own statement timeout (57014).
const POSTGRES_UNAVAILABLE = /^(08|53|57P)|^(40001|40P01|57014|55P03|25006)$/
const SOCKET_UNAVAILABLE = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EHOSTUNREACH',
  'EAI_AGAIN',
])
const DRIVER_UNAVAILABLE =
  /Connection terminated|timeout exceeded when trying to connect|Query read timeout|not queryable/i
const SQLITE_UNAVAILABLE = /^SQLITE_(FULL|IOERR|BUSY|LOCKED|CANTOPEN|READONLY|NOMEM|CORRUPT|NOTADB|PROTOCOL)/

/** Does another process hold the lock of an SQLite file? */
export const isLocked = (error: unknown) => toErrorFields(error)?.code?.startsWith('SQLITE_BUSY') ?? false

/** Is the store down, full, locked or restarting, rather than the statement wrong? */
export function isDatabaseUnavailable(error: unknown): boolean {
  const e = toErrorFields(error)
  if (!e) return false
  const code = e.code ?? ''
  return (
    POSTGRES_UNAVAILABLE.test(code) ||
    SOCKET_UNAVAILABLE.has(code) ||
    // Whatever keeps a connection from being made: no route, no such host, no socket file while it restarts.
    e.syscall === 'connect' ||
    SQLITE_UNAVAILABLE.test(code) ||
    DRIVER_UNAVAILABLE.test(e.message)
  )
}

/** The same error, or `unavailable` when it says that the store is away. */
export function toFailure(error: unknown): unknown {
  if (error instanceof Failure) return error
  return isDatabaseUnavailable(error) ? unavailable(error) : error
}

/** Calls what waited for a commit. One that throws changes nothing about what is stored, nor for the others. */
export function runCommitCallbacks(committed: (() => void)[]): void {
  for (const callback of committed) {
    try {
      callback()
    } catch (error) {
      log.error('on_commit_failed', describeError(error))
    }
  }
}
