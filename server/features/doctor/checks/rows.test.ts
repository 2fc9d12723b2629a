// The checks of rows and counters: on real databases, with real damage.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { closeSync, openSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { migratedDatabase } from '../../../../tests/support/migrated-database.ts'
import { formRow, insertRows, linkRow, workspaceRow } from '../../../../tests/support/test-rows.ts'
import { ENGINES } from '../../../../tests/support/world.ts'
import { openDatabaseReader, toSqlitePath } from '../../../storage/database/open-reader.ts'
import type { HitInspection } from '../../../storage/hits/hit-engine.ts'
import { verifySecret } from '../../cluster/instance.ts'
import { compareCounters } from '../counters.ts'
import { createPatient, type DoctorPatient, GOOD_SECRET, summarize } from '../doctor.fixture.ts'
import { runChecks } from '../report/run-checks.ts'
import { checkConfiguration } from './configuration.ts'
import { checkCounters } from './counters.ts'
import { checkHitStore } from './hit-store.ts'
import { checkReceivers } from './receivers.ts'
import { checkMigrations, checkRowStore, judgePostgres } from './row-store.ts'
import { checkSecrets } from './secrets.ts'
import { checkVersions } from './versions.ts'

const NOW = Date.UTC(2026, 5, 11, 12)

describe.each(ENGINES)('on %s', (engine) => {
  let patient: DoctorPatient
  let database: Awaited<ReturnType<typeof migratedDatabase>> | undefined
  beforeAll(async () => {
    database = engine === 'postgres' ? await migratedDatabase() : undefined
    patient = await createPatient(database?.url)
    await insertRows(patient.db, {
      workspaces: [workspaceRow({ id: 1 })],
      links: [1, 2, 3].map((id) => linkRow({ id, clicks: id * 10 })),
      click_marks: [{ node: 'n1', batch: 5 }],
    })
  }, 120_000)
  afterAll(async () => {
    await patient.end()
    await database?.drop()
  })

  const inspect = (clicks: number[], marks: Record<string, number> = { n1: 5 }): HitInspection => ({
    version: 'DuckDB',
    marks,
    marksAfter: marks,
    clicks: { linkIds: Float64Array.from([1, 2, 3, 99]), clicks: Float64Array.from([...clicks, 1000]) },
  })
  const checkWith = async (inspection: HitInspection | undefined, settings = {}) =>
    summarize(
      await checkCounters(
        patient.needs({ inspectHits: async () => inspection, isServerRunning: true }, settings),
      ),
    )

  test('counters are well when they have what the hit store has, and links without a row count nowhere', async () => {
    expect(await checkWith(inspect([10, 20, 30]))).toStartWith(
      'ok: 1060 clicks on 3 links are in both stores.',
    )
  })

  test('counters are a problem when either store lacks clicks', async () => {
    expect(await checkWith(inspect([10, 25, 30]))).toContain(
      'problem: Links show fewer clicks than analytics have: 5 clicks of 1 link, in workspace 1 (the first is link 2).',
    )
    expect(await checkWith(inspect([10, 20, 28]))).toContain(
      'problem: Analytics have fewer clicks than the links show: 2 clicks of 1 link, in workspace 1',
    )
    expect(await checkWith(undefined)).toContain('Analytics have fewer clicks than the links show: 60 clicks')
    // Hits past their retention are gone, and counters keep them.
    expect(await checkWith(inspect([10, 20, 28]), { hitRetentionDays: 30 })).toStartWith('ok')
  })

  test('counters are no problem while batches are on their way', async () => {
    const rows = { read: patient.db.read }
    const late = { rows, waitMs: 10 }
    // The rows have batch 5, and the hit store has 4: the clicks of batch 5 are not missing.
    const behind = await compareCounters({
      ...late,
      inspectHits: async () => inspect([9, 20, 30], { n1: 4 }),
    })
    expect(behind).toMatchObject({ differences: [], behind: ['n1'] })
    const ahead = await compareCounters({
      ...late,
      inspectHits: async () => inspect([11, 20, 30], { n1: 6 }),
    })
    expect(ahead).toMatchObject({ differences: [], behind: ['n1'] })
    // A batch that arrives while the hit store counts: the rows have it a moment later.
    let clicks = 10
    const inspectHits = async (withClicks: boolean) => {
      if (!withClicks) return inspect([clicks, 20, 30])
      clicks++
      await patient.db.write(async (connection) => {
        await connection.updateTable('links').set({ clicks }).where('id', '=', 1).execute()
      })
      return inspect([clicks, 20, 30])
    }
    expect(await compareCounters({ ...late, inspectHits })).toMatchObject({ differences: [], behind: [] })
    await patient.db.write(async (connection) => {
      await connection.updateTable('links').set({ clicks: 10 }).where('id', '=', 1).execute()
    })
  })

  test('counters of leads are a problem when submissions have more', async () => {
    const lead = { id: 1, workspace_id: 1, form_id: 1, fields: '[]', search_text: '', fingerprint: 'x' }
    const touch = {
      submission_id: 1,
      position: 0,
      touches: 1,
      workspace_id: 1,
      at: 1,
      kind: 'click',
      link_id: 1,
    }
    await insertRows(patient.db, {
      forms: [formRow({ id: 1, form_key: 'f1' })],
      submissions: [{ ...lead, created_at: 1 }],
      touches: [touch as never],
    })
    expect(await checkWith(inspect([10, 20, 30]))).toContain('problem: Links with fewer leads than')
    await patient.db.write((connection) =>
      connection.updateTable('links').set({ leads: 1 }).where('id', '=', 1).execute(),
    )
    expect(await checkWith(inspect([10, 20, 30]))).toContain('ok: The counters of links have all 1 lead of')
  })

  test('receivers are named by their type when they fail, are disabled or wait', async () => {
    const check = async () => summarize(await checkReceivers(patient.needs({ now: () => NOW })))
    expect(await check()).toStartWith('ok')
    const hours = (n: number) => NOW - n * 3_600_000
    await patient.db.write(async (connection) => {
      const channel = {
        workspace_id: 1,
        name: 'private name',
        created_at: 1,
        updated_at: 1,
        shown_url: 'https://x.example',
      }
      await connection
        .insertInto('channels')
        .values([
          { id: 1, type: 'slack', ...channel, enabled: 1, failing_since: hours(3) },
          { id: 2, type: 'webhook', ...channel, enabled: 0, disabled_reason: 'gone' },
        ])
        .execute()
      await connection
        .insertInto('deliveries')
        .values({
          workspace_id: 1,
          channel_id: 1,
          submission_id: null,
          event: 'test',
          message_id: 'm',
          status: 'waiting',
          due_at: hours(2),
          created_at: 1,
        } as never)
        .execute()
    })
    const found = await check()
    expect(found).toContain('warning: Channels of the type slack that fail: 1')
    expect(found).toContain('warning: Channels of the type webhook that were disabled because they failed: 1')
    expect(found).toContain('problem: Late notifications for channels of the type slack: 1')
    expect(found).not.toContain('private name')
    expect(found).not.toContain('x.example')
  })

  test('the data model is a problem for a newer release, and a warning when steps are missing', async () => {
    const check = async () => summarize(await checkMigrations(patient.needs()))
    expect(await check()).toStartWith('ok: The data model matches this version')
    const run = (text: ReturnType<typeof sql>) => patient.db.write((connection) => text.execute(connection))
    await run(sql`insert into kysely_migration (name, timestamp) values ('9999-later', 'x')`)
    expect(await check()).toContain(
      'warning: A newer version of Towpath has migrated the database (9999-later)',
    )
    await run(sql`update instance set floor = '9999-later'`)
    expect(await check()).toContain('problem: The database belongs to a newer version')
    await run(sql`delete from kysely_migration where name in ('9999-later', '0015-imports')`)
    expect(await check()).toContain(
      'warning: The data model lacks 1 steps of this version (from 0015-imports on)',
    )
    await run(sql`insert into kysely_migration (name, timestamp) values ('0015-imports', 'x')`)
  })

  test('a secret is a problem when it is guessable or of another installation', async () => {
    const check = async (secret: string | undefined, settings = {}) =>
      summarize(await checkSecrets(patient.needs({ secret }, settings)))
    await patient.db.write((connection) => verifySecret(connection, GOOD_SECRET))
    expect(await check(GOOD_SECRET)).toStartWith('ok')
    expect(await check('short')).toContain('problem: The secret has only 5 characters')
    expect(await check('changeme-changeme-changeme-changeme')).toContain('is a placeholder')
    expect(await check(GOOD_SECRET.toLowerCase())).toContain('is not that of the servers')
    expect(await check(undefined)).toContain('warning: There is no secret yet')
    const found = await check(GOOD_SECRET, {
      databaseUrl: 'postgres://u:password@db/x',
      smtpUrl: 'smtp://u:b7Gq2@h',
    })
    expect(found).toContain('warning: DATABASE_URL has a password that is a placeholder')
    expect(found).not.toContain('SMTP_URL')
  })

  test('the row store is well, and its settings are judged', async () => {
    const found = summarize(await checkRowStore(patient.needs()))
    // The PostgreSQL of the tests has no fsync, so that they are quick.
    const isSynced = engine === 'sqlite' || process.env.TEST_DATABASE_URL !== undefined
    expect(found).toStartWith(isSynced ? 'ok: ' : 'problem: PostgreSQL has fsync = off')
    const good = {
      version: '17',
      fsync: true,
      fullPageWrites: true,
      synchronousCommit: 'on',
      connections: 97,
    }
    expect(judgePostgres(good, 20)).toEqual([])
    const bad = summarize(judgePostgres({ ...good, fsync: false, fullPageWrites: false }, 200))
    expect(bad).toContain('problem: PostgreSQL has fsync = off')
    expect(bad).toContain('problem: PostgreSQL has full_page_writes = off')
    expect(bad).toContain('warning: Towpath may open 200 connections, and PostgreSQL has 97.')
  })
})

describe('a damaged installation', () => {
  test('is a problem of the row store, and each check that needs the rows is skipped', async () => {
    const patient = await createPatient()
    const path = toSqlitePath(patient.dataDir)
    await patient.db.close()
    const { size } = statSync(path)
    const file = openSync(path, 'r+')
    for (let at = 4096; at < size; at += 4096) writeSync(file, Buffer.alloc(64, 0xff), 0, 64, at)
    closeSync(file)
    const openRows = () => openDatabaseReader({ dataDir: patient.dataDir })
    expect(summarize(await checkRowStore(patient.needs({ openRows })))).toContain(
      'problem: The row store is damaged',
    )
    const databaseUrl = 'postgres://towpath@127.0.0.1/towpath'
    const away = async () => {
      throw new Error('PostgreSQL is away')
    }
    const findings = await runChecks(
      patient.needs({ openRows: away }, { origin: 'http://localhost', databaseUrl }),
    )
    const of = (check: string) => findings.find((finding) => finding.check === check)
    expect(of('rows')).toMatchObject({
      status: 'problem',
      summary: 'It cannot be checked: PostgreSQL is away',
    })
    for (const check of ['migrations', 'counters', 'receivers']) expect(of(check)?.status).toBe('skipped')
    await patient.end().catch(() => {})
  })

  test('has orphaned rows', async () => {
    const patient = await createPatient()
    const { Database } = await import('bun:sqlite')
    const database = new Database(join(patient.dataDir, 'towpath.db'))
    database.run('PRAGMA foreign_keys=OFF')
    database.run(
      "insert into api_keys (workspace_id, name, hash, last_four, created_at) values (77, 'k', 'h', '1234', 1)",
    )
    database.close()
    expect(summarize(await checkRowStore(patient.needs()))).toContain(
      'rows of api_keys name rows that are not there',
    )
    await patient.end()
  })

  test('has settings that the start would refuse, and a hit store that is away', async () => {
    const patient = await createPatient()
    const configProblems = ['PORT: "x" is not a port. Use a whole number from 1 to 65535, such as 3000.']
    expect(await checkConfiguration(patient.needs({ configProblems }))).toEqual([
      {
        status: 'problem',
        summary: 'The server does not start: PORT: "x" is not a port.',
        fix: 'Use a whole number from 1 to 65535, such as 3000.',
      },
    ])
    const inspectHits = async () => {
      throw new Error('The hit engine is away')
    }
    expect(summarize(await checkHitStore(patient.needs({ inspectHits })))).toContain(
      'problem: The hit store does not answer',
    )
    const clickHouseUrls = ['http://127.0.0.1:9/towpath']
    expect(summarize(await checkHitStore(patient.needs({}, { clickHouseUrls })))).toContain(
      'problem: ClickHouse does not answer',
    )
    expect(summarize(await checkVersions(patient.needs()))).toContain(`Bun ${Bun.version}`)
    await patient.end()
  })
})
