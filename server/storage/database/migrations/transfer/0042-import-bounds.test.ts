// After the upgrade, keys of forms belong to their workspaces, those of forms that were deleted before it too.

import { expect, test } from 'bun:test'
import { withOldDatabase } from '../../../../../tests/support/old-database.ts'
import type { DatabaseEngine } from '../../database.ts'

test.each<DatabaseEngine>(['sqlite', 'postgres'])(
  'the keys of forms, and of those whose deletion the audit log knows, belong to their workspaces (%s)',
  (engine) =>
    withOldDatabase(engine, '0042', async ({ db, upgrade }) => {
      const workspace = { name: 'A', plan: 'free', created_at: 1, updated_at: 1 }
      const [first, second] = await db
        .insertInto('workspaces')
        .values([
          { ...workspace, public_id: 'ws_a' },
          { ...workspace, public_id: 'ws_b' },
        ])
        .returning('id')
        .execute()
      const [a, b] = [first?.id as number, second?.id as number]
      const form = {
        name: 'Contact',
        created_at: 1,
        updated_at: 1,
        redirect_url: null,
        success_message: null,
      }
      await db
        .insertInto('forms')
        .values([
          { ...form, workspace_id: a, form_key: 'here' },
          { ...form, workspace_id: b, form_key: 'taken' },
        ])
        .execute()
      const event = {
        at: Date.UTC(2026, 5, 11, 12),
        actor_type: 'system',
        actor_id: null,
        actor_name: null,
        target_type: 'form',
        target_name: null,
        detail: '{}',
      }
      await db
        .insertInto('audit_events')
        .values(
          ['gone', 'taken'].map((target_id) => ({
            ...event,
            workspace_id: a,
            target_id,
            action: 'form.deleted',
          })),
        )
        .execute()
      await upgrade()
      await db.deleteFrom('workspaces').execute()
      const rows = await db.selectFrom('form_keys').selectAll().orderBy('form_key').execute()
      expect(rows.map(({ form_key, workspace_id }) => [form_key, workspace_id])).toEqual([
        ['gone', a],
        ['here', a],
        ['taken', b],
      ])
    }),
  60_000,
)
