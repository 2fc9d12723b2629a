import { expect, test } from 'bun:test'
import { sql } from 'kysely'
import { onBothEngines } from '../../../../tests/support/world.ts'
import { foldCase } from '../../../lib/text.ts'
import { closeClientNames } from './close-client-names.ts'
import { foldSubmissionTexts } from './fold-submission-texts.ts'
import { insertSubmissions } from './submission.fixture.ts'

onBothEngines('names of submissions that an earlier release has stored', (server) => {
  test('are closed in slices, and those of later submissions stay', async () => {
    const ws = await server().createWorkspace()
    const { json } = await ws.post('/forms', { name: 'Contact' })
    const { db } = server().app
    const form = await server().row('forms', { form_key: json.data.formKey })
    const store = (names: [browser: string | null, os: string | null, device: string | null][]) =>
      db.write((connection) =>
        insertSubmissions(
          connection,
          { workspaceId: ws.id, formId: form.id },
          names.map(([browser, os, device]) => ({ browser, os, device })),
        ),
      )
    await store([
      ['Jane Doe, 5 Main Street', 'iOS', 'Mobile'],
      ['chrome', 'MySystem', null],
      [null, null, 'fridge'],
      ['Safari', 'macOS', 'Desktop'],
      ['x'.repeat(128), 'Other', 'TV'],
    ])
    await db.write((connection) =>
      sql`insert into open_names (table_name, through) select 'submissions', max(id) from submissions`.execute(
        connection,
      ),
    )
    await store([['later', null, null]])
    await closeClientNames(db, 2)
    const rows = await server().rows('submissions', { workspace_id: ws.id })
    expect(rows.map(({ browser, os, device }) => [browser, os, device])).toEqual([
      ['Other', 'iOS', 'Mobile'],
      ['Chrome', 'Other', null],
      [null, null, 'Other'],
      ['Safari', 'macOS', 'Desktop'],
      ['Other', 'Other', 'TV'],
      ['later', null, null],
    ])
    expect(await server().rows('open_names')).toEqual([])
  })

  test('are found with their marks at once, and without them after the job', async () => {
    const ws = await server().createWorkspace()
    const { json } = await ws.post('/forms', { name: 'Contact' })
    const { db } = server().app
    const { id: formId } = await server().row('forms', { form_key: json.data.formKey })
    const texts = ['Zürich', 'Łódź', 'Bern', `São Paulo ${'long '.repeat(60_000)}`]
    const rows = texts.map((text) => ({ search_text: foldCase(text) }))
    await db.write((connection) => insertSubmissions(connection, { workspaceId: ws.id, formId }, rows))
    await db.write((connection) =>
      sql`insert into open_names (table_name, through)
        select 'submissions.search_text', max(id) from submissions`.execute(connection),
    )
    const count = async (search: string) =>
      (await ws.api(`/submissions?search=${encodeURIComponent(search)}`)).json.total
    expect([await count('zürich'), await count('zurich')]).toEqual([1, 0])

    await foldSubmissionTexts(db, 2)
    for (const text of ['zürich', 'zurich', 'LODZ', 'bern', 'sao paulo'])
      expect([text, await count(text)]).toEqual([text, 1])
    expect(await server().rows('open_names')).toEqual([])
  })
})
