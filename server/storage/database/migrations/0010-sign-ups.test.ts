// Notifications go on after the upgrade: recipients of channels from before it count as confirmed.

import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTestDatabase } from '../../../../tests/support/postgres/postgres-server.ts'
import type { DatabaseEngine } from '../database.ts'
import { listMigrations, migrate } from '../migrate.ts'
import { openPostgresMigrator } from '../postgres.ts'
import { openSqliteMigrator } from '../sqlite.ts'

test.each<DatabaseEngine>(['sqlite', 'postgres'])(
  'recipients of channels that exist already count as confirmed (%s)',
  async (engine) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'towpath-migration-'))
    const database = engine === 'postgres' ? await createTestDatabase() : undefined
    const db = await (database
      ? openPostgresMigrator(database.url)
      : openSqliteMigrator(join(dataDir, 'towpath.db')))
    try {
      const all = Object.entries(listMigrations(engine))
      await migrate(db, Object.fromEntries(all.filter(([name]) => name < '0010')))
      const { id } = await db
        .insertInto('workspaces')
        .values({ public_id: 'ws_a', name: 'A', plan: 'free', created_at: 1, updated_at: 1 })
        .returning('id')
        .executeTakeFirstOrThrow()
      const channel = { workspace_id: id, name: 'Team', created_at: 7, updated_at: 7 }
      await db
        .insertInto('channels')
        .values([
          { ...channel, type: 'email', recipients: '["A@example.com","b@example.com"]' },
          { ...channel, type: 'email', recipients: '["a@example.com"]' },
          { ...channel, type: 'slack', recipients: '[]' },
        ])
        .execute()
      await migrate(db, Object.fromEntries(all.filter(([name]) => name < '0011')))
      const rows = await db
        .selectFrom('mail_recipients')
        .select(['workspace_id', 'email', 'confirmed_at', 'stopped_at'])
        .orderBy('email')
        .execute()
      const confirmed = { workspace_id: id, confirmed_at: 7, stopped_at: null }
      expect(rows).toEqual([
        { ...confirmed, email: 'a@example.com' },
        { ...confirmed, email: 'b@example.com' },
      ])
    } finally {
      await db.destroy()
      await database?.drop()
      rmSync(dataDir, { recursive: true, force: true })
    }
  },
  60_000,
)
