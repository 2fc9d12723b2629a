// Diagnoses a wrong DATABASE_URL, in a sentence with the fix. No sentence has the address, because it can contain a
// password.

import { sql } from 'kysely'
import { Failure } from '../../lib/failure.ts'
import type { Connection } from './database.ts'

const MIN_VERSION = 14

/** Properties of a connection to PostgreSQL. */
export interface PostgresFacts {
  /** Such as 150018. */
  version: number
  encoding: string
  isStandby: boolean
  isReadOnly: boolean
  mayCreateTables: boolean
  /** True if there are no tables yet. */
  mayWriteRows: boolean
}

/** Settings that decide whether a commit survives a crash, and whether all processes get their connections. */
export interface PostgresSettings {
  version: string
  fsync: boolean
  fullPageWrites: boolean
  /** The setting of this connection. Towpath sets a synced commit in each of its transactions. */
  synchronousCommit: string
  /** Connections for users like this one. */
  connections: number
}

export async function readPostgresSettings(connection: Connection): Promise<PostgresSettings> {
  const { rows } = await sql<PostgresSettings>`
    select current_setting('server_version') as version,
      current_setting('fsync') = 'on' as fsync,
      current_setting('full_page_writes') = 'on' as "fullPageWrites",
      current_setting('synchronous_commit') as "synchronousCommit",
      current_setting('max_connections')::int
        - current_setting('superuser_reserved_connections')::int as connections`.execute(connection)
  const [settings] = rows
  if (!settings) throw new Error('PostgreSQL answered no row')
  return settings
}

/** @throws Error with a sentence for the operator, when the server cannot work with this database */
export async function requireUsablePostgres(connection: Connection): Promise<void> {
  const facts = await readFacts(connection).catch((error) => {
    throw toPostgresProblem(error instanceof Failure ? error.cause : error)
  })
  const problem = findPostgresProblem(facts)
  if (problem) throw new Error(problem)
}

async function readFacts(connection: Connection): Promise<PostgresFacts> {
  const { rows } = await sql<PostgresFacts>`
    select current_setting('server_version_num')::int as version,
      current_setting('server_encoding') as encoding,
      pg_is_in_recovery() as "isStandby",
      current_setting('transaction_read_only') = 'on' as "isReadOnly",
      coalesce(has_schema_privilege(current_schema(), 'create'), false) as "mayCreateTables",
      coalesce(has_table_privilege(to_regclass('workspaces'), 'insert')
        and has_table_privilege(to_regclass('workspaces'), 'update')
        and has_table_privilege(to_regclass('workspaces'), 'delete'), true) as "mayWriteRows"`.execute(
    connection,
  )
  const [facts] = rows
  if (!facts) throw new Error('PostgreSQL answered no row')
  return facts
}

export function findPostgresProblem(facts: PostgresFacts): string | undefined {
  const { version, encoding, isStandby, isReadOnly, mayCreateTables, mayWriteRows } = facts
  if (version < MIN_VERSION * 10_000)
    return `DATABASE_URL: PostgreSQL ${Math.floor(version / 10_000)} is too old. Use ${MIN_VERSION} or newer.`
  if (isStandby)
    return 'DATABASE_URL: this PostgreSQL is a standby, which only reads. Name the primary, or promote the standby.'
  if (isReadOnly)
    return 'DATABASE_URL: the database or its user is set to read only. Take default_transaction_read_only away from both.'
  if (encoding !== 'UTF8')
    return `DATABASE_URL: the database has the encoding ${encoding}. Make one with ENCODING 'UTF8' TEMPLATE template0.`
  if (!mayWriteRows)
    return 'DATABASE_URL: this user may not write to the tables of Towpath. Use the user who owns them.'
  if (!mayCreateTables)
    return 'DATABASE_URL: this user may not create tables. Make the user the owner of the database, or GRANT CREATE ON SCHEMA public.'
  return undefined
}

/** Codes of https://www.postgresql.org/docs/current/errcodes-appendix.html, and of the system. */
const SENTENCES: Record<string, string> = {
  '28P01': 'PostgreSQL refuses the user or the password. Correct them, or set the password with ALTER ROLE.',
  '28000':
    'PostgreSQL refuses this user from this machine. Add a line to its pg_hba.conf, with TLS or without.',
  '3D000':
    'this PostgreSQL has no database with that name. Make it with CREATE DATABASE, or correct the name.',
  '53300':
    'PostgreSQL has no connection left. Raise its max_connections, or lower DATABASE_POOL on every node.',
  '42501': 'this user lacks a right. Use the user who owns the database and its tables.',
  '25006': 'this PostgreSQL only reads. Name the primary.',
  ENOTFOUND: 'the name of the database’s host has no address. Correct it.',
}

/** Errors of TLS: codes of OpenSSL and of the runtime. */
const UNTRUSTED = /CERT|SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)|ERR_TLS/

/** @returns an error with a sentence for the operator; its cause is the driver's error */
export function toPostgresProblem(cause: unknown): Error {
  const { code = '', message = '' } = cause as { code?: string; message?: string }
  return new Error(toSentence(String(code), message), { cause })
}

function toSentence(code: string, message: string): string {
  if (/does not support SSL/.test(message))
    return 'DATABASE_URL requires TLS, but PostgreSQL does not offer it. Set ssl = on there, or remove sslmode from the address.'
  if (UNTRUSTED.test(code) || /certificate/i.test(message))
    return 'DATABASE_URL: the certificate of PostgreSQL is not trusted. Use the host name that it has, and name its authority: sslmode=verify-full&sslrootcert=/path/to/ca.pem.'
  const sentence = SENTENCES[code]
  if (sentence) return `DATABASE_URL: ${sentence}`
  return 'The database cannot be reached. Start PostgreSQL, or correct host and port in DATABASE_URL.'
}
