// After the upgrade, no submission says that its own site brought its sender.

import { expect, test } from 'bun:test'
import { withOldDatabase } from '../../../../tests/support/old-database.ts'
import type { DatabaseEngine } from '../database.ts'

test.each<DatabaseEngine>(['sqlite', 'postgres'])(
  'submissions and touches without a visit lose their own site as referrer, others keep theirs (%s)',
  (engine) =>
    withOldDatabase(engine, '0019', async ({ db, upgrade }) => {
      const workspace = { public_id: 'ws_a', name: 'A', plan: 'free', created_at: 1, updated_at: 1 }
      const { id: workspace_id } = await db
        .insertInto('workspaces')
        .values(workspace)
        .returning('id')
        .executeTakeFirstOrThrow()
      const form = { workspace_id, form_key: 'contact', name: 'Contact', created_at: 1, updated_at: 1 }
      const { id: form_id } = await db
        .insertInto('forms')
        .values({ ...form, redirect_url: null, success_message: null })
        .returning('id')
        .executeTakeFirstOrThrow()
      for (const session_linked of [0, 1]) {
        const referrer = session_linked ? 'search.example' : 'shop.example'
        const page_url = 'https://www.shop.example/'
        const values = {
          workspace_id,
          form_id,
          fields: '[]',
          search_text: '',
          fingerprint: 'f',
          created_at: 1,
        }
        const { id } = await db
          .insertInto('submissions')
          // biome-ignore lint/suspicious/noExplicitAny: the other columns are null
          .values({ ...values, session_linked, referrer, page_url } as any)
          .returning('id')
          .executeTakeFirstOrThrow()
        const touch = {
          submission_id: id,
          workspace_id,
          position: 0,
          touches: 1,
          at: 1,
          kind: 'click',
          referrer,
        }
        await db
          .insertInto('touches')
          // biome-ignore lint/suspicious/noExplicitAny: the other columns are null
          .values(touch as any)
          .execute()
      }
      await upgrade()
      for (const table of ['submissions', 'touches'] as const) {
        const rows = await db.selectFrom(table).select('referrer').execute()
        expect(new Set(rows.map(({ referrer }) => referrer))).toEqual(new Set([null, 'search.example']))
      }
    }),
  60_000,
)
