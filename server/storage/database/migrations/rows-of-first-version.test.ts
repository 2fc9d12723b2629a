// The rows of version 0.1.0 after an upgrade: recipients, referrers, spam, failures, trash and form keys.

import { expect, test } from 'bun:test'
import type { Kysely } from 'kysely'
import { withOldDatabase } from '../../../../tests/support/old-database.ts'
import type { DatabaseEngine } from '../database.ts'

const TIMES = { created_at: 7, updated_at: 7 }

test.each<DatabaseEngine>(['sqlite', 'postgres'])(
  'rows of 0.1.0 mean the same after an upgrade (%s)',
  (engine) =>
    withOldDatabase(engine, async ({ db, upgrade }) => {
      // Tables of 0.1.0 lack columns that the types have.
      // biome-ignore lint/suspicious/noExplicitAny: see above
      const old = db as unknown as Kysely<any>
      const insert = async (table: string, ...rows: Record<string, unknown>[]) => {
        const stored = await old.insertInto(table).values(rows).returningAll().execute()
        return Number(stored[0]?.id)
      }
      const workspace_id = await insert('workspaces', { public_id: 'a', name: 'A', plan: 'free', ...TIMES })
      const channel = { workspace_id, name: 'Team', ...TIMES }
      await insert(
        'channels',
        { ...channel, type: 'email', recipients: '["A@example.com","b@example.com"]', failing_since: 3 },
        { ...channel, type: 'email', recipients: '["a@example.com"]' },
        { ...channel, type: 'slack', recipients: '[]' },
      )
      const form_id = await insert('forms', { workspace_id, form_key: 'contact', name: 'Contact', ...TIMES })
      for (const session_linked of [0, 1]) {
        const referrer = session_linked ? 'search.example' : 'shop.example'
        const submission_id = await insert('submissions', {
          workspace_id,
          form_id,
          session_linked,
          referrer,
          page_url: 'https://www.shop.example/',
          fields: '[]',
          search_text: '',
          fingerprint: 'f',
          created_at: 1,
        })
        const touch = { submission_id, workspace_id, position: 0, touches: 1, at: 1, kind: 'click', referrer }
        await old.insertInto('touches').values(touch).execute()
      }
      const link = { domain: '', slug_key: 's', slug: 's', destination_url: 'https://a.example/' }
      for (const deleted_at of [5, null])
        await insert('links', { ...link, workspace_id, search_text: '', deleted_at, ...TIMES })
      const targets = { UK: 'https://uk.example/', DE: 'https://de.example/' }
      for (const [slug, more] of Object.entries({ uk: {}, both: { GB: 'https://gb.example/' } }))
        await insert('links', {
          ...link,
          slug,
          slug_key: slug,
          workspace_id,
          search_text: '',
          ...TIMES,
          geo_targeting: JSON.stringify({ ...targets, ...more }),
        })

      await upgrade()

      const list = (table: string, columns: string[], order = columns) =>
        old
          .selectFrom(table)
          .select(columns)
          .orderBy(order[0] as string)
          .execute()
      const confirmed = { workspace_id, confirmed_at: 7, stopped_at: null }
      expect(await list('mail_recipients', ['email', 'workspace_id', 'confirmed_at', 'stopped_at'])).toEqual([
        { ...confirmed, email: 'a@example.com' },
        { ...confirmed, email: 'b@example.com' },
      ])
      for (const table of ['submissions', 'touches'])
        expect((await list(table, ['referrer'])).map(({ referrer }) => referrer).sort()).toEqual(
          ['search.example', null].sort(),
        )
      expect(await list('forms', ['id', 'spam_retention_days'])).toMatchObject([
        { spam_retention_days: 3650 },
      ])
      expect(await list('channels', ['id', 'own_failures_since'])).toMatchObject([
        { own_failures_since: 3 },
        { own_failures_since: null },
        { own_failures_since: null },
      ])
      // A link that 0.1.0 has deleted has lost its slug, so it is not in the trash.
      expect(await list('links', ['id', 'purged_at'])).toMatchObject([
        { purged_at: 5 },
        { purged_at: null },
        { purged_at: null },
        { purged_at: null },
      ])
      const targeted = await list('links', ['id', 'geo_targeting'])
      expect(targeted.slice(2).map(({ geo_targeting }) => JSON.parse(geo_targeting))).toEqual([
        { GB: 'https://uk.example/', DE: 'https://de.example/' },
        { GB: 'https://gb.example/', DE: 'https://de.example/' },
      ])
      await old.deleteFrom('workspaces').execute()
      expect(await list('form_keys', ['form_key', 'workspace_id'])).toEqual([
        { form_key: 'contact', workspace_id },
      ])
    }),
  60_000,
)
