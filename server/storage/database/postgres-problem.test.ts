// Starts on a PostgreSQL that cannot be used: each time a sentence with the fix, and never the password.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chownSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { findPostgresUser } from '../../../tests/support/postgres/postgres-programs.ts'
import { type PostgresServer, startPostgres } from '../../../tests/support/postgres/postgres-server.ts'
import { createCertificate } from '../../../tests/support/processes/certificate.ts'
import { findFreePort } from '../../../tests/support/processes/free-port.ts'
import { setLogLevel } from '../../lib/log.ts'
import { type DatabaseHandle, openDatabase } from './open-database.ts'
import { openPostgresMigrator } from './postgres.ts'
import { findPostgresProblem, type PostgresFacts } from './postgres-problem.ts'

setLogLevel('silent')

let server: PostgresServer
let dataDir: string
beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'towpath-problem-'))
  const { cert, key } = createServerCertificate(dataDir)
  server = await startPostgres({ settings: { ssl: 'on', ssl_cert_file: cert, ssl_key_file: key } })
}, 120_000)
afterAll(async () => {
  await server.end()
  rmSync(dataDir, { recursive: true, force: true })
})

/** A certificate for another host, which nobody has signed. */
function createServerCertificate(dir: string) {
  const { cert, key } = createCertificate(dir, 'database.example')
  const owner = findPostgresUser()
  if (owner) for (const path of [dir, cert, key]) chownSync(path, owner.uid, owner.gid)
  return { cert, key }
}

function toUrl(change: (url: URL) => void): string {
  const url = new URL(server.url)
  change(url)
  return url.href
}

const administrator = () => toUrl((url) => Object.assign(url, { username: 'postgres' }))

/** Runs the statements as a superuser in the database of the tests. */
async function administer(...statements: string[]) {
  const connection = openPostgresMigrator(administrator())
  try {
    for (const statement of statements) await sql.raw(statement).execute(connection)
  } finally {
    await connection.destroy()
  }
}

async function refusal(databaseUrl: string): Promise<string> {
  const message = await openDatabase({ dataDir, databaseUrl }).then(
    async (db) => {
      await db.close()
      return 'started'
    },
    (error: Error) => `${error.message} (${(error.cause as Error | undefined)?.message})`,
  )
  expect(message).not.toContain(new URL(databaseUrl).password)
  return message
}

describe('a start', () => {
  test('without a server says that nothing answers', async () => {
    const port = String(findFreePort())
    expect(await refusal(toUrl((url) => Object.assign(url, { port })))).toMatch(
      /^The database cannot be reached\. Start PostgreSQL.*ECONNREFUSED/,
    )
  })

  test('with an unknown host says so', async () => {
    const found = await refusal(toUrl((url) => Object.assign(url, { hostname: 'nowhere.invalid' })))
    expect(found).toMatch(/has no address|cannot be reached/)
  })

  test('with a wrong password says so', async () => {
    const found = await refusal(toUrl((url) => Object.assign(url, { password: 'hunter2' })))
    expect(found).toContain('PostgreSQL refuses the user or the password. Correct them')
  })

  test('without its database says how to make it', async () => {
    const found = await refusal(toUrl((url) => Object.assign(url, { pathname: '/nowhere' })))
    expect(found).toContain('has no database with that name. Make it with CREATE DATABASE')
  })

  test('as a user who may only read says so, before and after there are tables', async () => {
    const password = new URL(server.url).password
    await administer(`create role reader login password '${password}'`)
    const asReader = toUrl((url) => Object.assign(url, { username: 'reader' }))
    expect(await refusal(asReader)).toContain('may not create tables')
    await openDatabase({ dataDir, databaseUrl: server.url }).then((db) => db.close())
    await administer(
      'grant create on schema public to reader',
      'grant select on all tables in schema public to reader',
    )
    expect(await refusal(asReader)).toContain('may not write to the tables of Towpath')
  })

  test('in a database that is set to read only says so', async () => {
    await administer('alter database towpath set default_transaction_read_only = on')
    expect(await refusal(server.url)).toContain(
      'is set to read only. Take default_transaction_read_only away',
    )
    await administer('begin read write; alter database towpath reset default_transaction_read_only; commit')
    expect(await refusal(server.url)).toStartWith('started')
  })

  test('with a certificate that nobody has signed, or of another host, says what to do', async () => {
    const strict = toUrl((url) => url.searchParams.set('sslmode', 'verify-full'))
    expect(await refusal(strict)).toContain('the certificate of PostgreSQL is not trusted')
    const otherHost = toUrl((url) => {
      url.searchParams.set('sslmode', 'verify-full')
      url.searchParams.set('sslrootcert', join(dataDir, 'cert.pem'))
    })
    expect(await refusal(otherHost)).toContain('the certificate of PostgreSQL is not trusted')
  })

  test('with TLS against a server without it says so', async () => {
    const plain = Bun.listen({
      hostname: '127.0.0.1',
      port: 0,
      socket: { data: (socket) => void socket.end('N') },
    })
    try {
      const strict = toUrl((url) => {
        url.port = String(plain.port)
        url.searchParams.set('sslmode', 'verify-full')
      })
      expect(await refusal(strict)).toContain('DATABASE_URL requires TLS, but PostgreSQL does not offer it')
    } finally {
      plain.stop(true)
    }
  })
})

const USABLE: PostgresFacts = {
  version: 140_000,
  encoding: 'UTF8',
  isStandby: false,
  isReadOnly: false,
  mayCreateTables: true,
  mayWriteRows: true,
}
test.each([
  [{}, undefined],
  [{ version: 130_014 }, 'PostgreSQL 13 is too old. Use 14 or newer.'],
  [{ isStandby: true, isReadOnly: true }, 'this PostgreSQL is a standby'],
  [{ encoding: 'SQL_ASCII' }, "ENCODING 'UTF8'"],
])('finds what is wrong with %p', (facts, sentence) => {
  const found = findPostgresProblem({ ...USABLE, ...facts })
  if (sentence === undefined) expect(found).toBeUndefined()
  else expect(found).toContain(sentence)
})

describe('while a server runs', () => {
  let db: DatabaseHandle
  beforeAll(async () => {
    db = await openDatabase({ dataDir, databaseUrl: server.url })
  })
  afterAll(() => db.close())

  const write = () =>
    db.probe().then(
      () => 'written',
      ({ code }) => code,
    )
  const disconnect = `select pg_terminate_backend(pid) from pg_stat_activity
    where datname = 'towpath' and pid <> pg_backend_pid()`

  test('a lost right, a changed password and a database that only reads are `unavailable`, and pass', async () => {
    const password = new URL(server.url).password
    expect(await write()).toBe('written')
    for (const [lose, regain] of [
      ["alter role towpath password 'another'", `alter role towpath password '${password}'`],
      ['alter table click_marks owner to postgres', 'alter table click_marks owner to towpath'],
      [
        'alter role towpath set default_transaction_read_only = on',
        'alter role towpath reset default_transaction_read_only',
      ],
    ] as const) {
      await administer(lose, disconnect)
      expect([lose, await write()]).toEqual([lose, 'unavailable'])
      await administer(regain, disconnect)
      expect([regain, await write()]).toEqual([regain, 'written'])
    }
  })
})
