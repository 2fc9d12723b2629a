// Notifications go on after the upgrade: recipients of channels from before it count as confirmed.

import { expect, test } from 'bun:test'
import { withOldDatabase } from '../../../../tests/support/old-database.ts'
import type { DatabaseEngine } from '../database.ts'

test.each<DatabaseEngine>(['sqlite', 'postgres'])(
  'recipients of channels that exist already count as confirmed (%s)',
  (engine) =>
    withOldDatabase(engine, '0010', async ({ db, upgrade }) => {
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
      await upgrade('0011')
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
    }),
  60_000,
)
