// Classifies the errors of both database drivers.

import { Failure, unavailable } from '../../lib/failure.ts'

const toErrorFields = (error: unknown) =>
  error instanceof Error
    ? (error as Error & { code?: string; constraint?: string; syscall?: string })
    : undefined

/**
 * Is this error the violation of a unique constraint? @param unique one constraint: its index name, which PostgreSQL
 * reports, and SQLite for an index with an expression; and its columns, which SQLite reports for all others
 */
export function isUniqueViolation(error: unknown, unique?: { index: string; columns: string[] }): boolean {
  const e = toErrorFields(error)
  if (!e) return false
  if (e.code === '23505') return !unique || e.constraint === unique.index
  if (e.code !== 'SQLITE_CONSTRAINT_UNIQUE' && e.code !== 'SQLITE_CONSTRAINT_PRIMARYKEY') return false
  if (!unique) return true
  if (e.message.endsWith(`index '${unique.index}'`)) return true
  const columns = e.message
    .split(': ')
    .at(-1)
    ?.split(', ')
    .map((column) => column.split('.').at(-1))
  return columns?.join() === unique.columns.join()
}

// Error codes of PostgreSQL (https://www.postgresql.org/docs/current/errcodes-appendix.html): connection exceptions
// (08), insufficient resources (53), shutdown and startup (57P), serialization failure (40001), deadlock (40P01),
// statement timeout (57014), lock not available (55P03), read-only transaction (25006), and a user who may read only
// (42501): each can go away while the server runs.
const POSTGRES_UNAVAILABLE = /^(08|53|57P)|^(40001|40P01|57014|55P03|25006|42501)$/
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

/** Does another process hold the lock of the SQLite file? */
export const isLocked = (error: unknown) => toErrorFields(error)?.code?.startsWith('SQLITE_BUSY') ?? false

/** Is the database down, full, locked or restarting? False for a wrong statement. */
export function isDatabaseUnavailable(error: unknown): boolean {
  const e = toErrorFields(error)
  if (!e) return false
  const code = e.code ?? ''
  return (
    POSTGRES_UNAVAILABLE.test(code) ||
    SOCKET_UNAVAILABLE.has(code) ||
    // The connection failed: no route, unknown host, or no socket file during a restart.
    e.syscall === 'connect' ||
    SQLITE_UNAVAILABLE.test(code) ||
    DRIVER_UNAVAILABLE.test(e.message)
  )
}

/** Turns the error into Failure `unavailable` when the database is unavailable. Other errors stay as they are. */
export function toFailure(error: unknown): unknown {
  if (error instanceof Failure) return error
  return isDatabaseUnavailable(error) ? unavailable(error) : error
}
