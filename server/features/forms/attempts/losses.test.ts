import { describe, expect, test } from 'bun:test'
import { formRow, insertRows, useDatabase, workspaceRow } from '../../../../tests/support/test-rows.ts'
import { until } from '../../../../tests/support/until.ts'
import { ENGINES } from '../../../../tests/support/world.ts'
import { toErrorResponse } from '../../../http/error-response.ts'
import { unavailable } from '../../../lib/failure.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import { createApi } from '../../accounts/access/api-env.ts'
import { newFormKey } from '../settings/form-key.ts'
import { ATTEMPT_OUTCOMES, type AttemptOutcome, openAttemptCounter } from './attempt-counter.ts'
import { createLossesApi } from './losses.ts'

const NOON = Date.parse('2026-03-29T12:00:00Z')
const DAY = 24 * 60 * 60 * 1000

describe.each(ENGINES)('the losses of a form (%s)', (engine) => {
  const rows = useDatabase(engine, (db) =>
    insertRows(db, { workspaces: [1, 2].map((id) => workspaceRow({ id, created_at: NOON })) }),
  )
  let forms = 0
  let now = NOON

  async function newForm() {
    const id = ++forms
    const formKey = newFormKey()
    await insertRows(rows.db, { forms: [formRow({ id, form_key: formKey })] })
    return { id, formKey }
  }
  const open = (through: Database = rows.db, everyMs = 3_600_000) =>
    openAttemptCounter({ db: through, now: () => now, everyMs })
  type Opened = ReturnType<typeof open>

  async function ask(attempts: Opened, path: string, workspaceId = 1) {
    const app = createApi()
    app.onError((error) => toErrorResponse(error, 'test'))
    app.use(async (c, next) => {
      c.set('actor', { kind: 'key', workspaceId, plan: 'pro', keyId: 1 })
      c.set('db', rows.db)
      await next()
    })
    app.route('/', createLossesApi({ attempts, now: () => now }))
    const response = await app.request(`/forms/${path}`)
    // biome-ignore lint/suspicious/noExplicitAny: each test knows the shape of its answer
    return { status: response.status, body: (await response.json()) as any }
  }
  const losses = async (attempts: Opened, formKey: string, query = '') =>
    (await ask(attempts, `${formKey}/losses${query}`)).body.data
  const none = Object.fromEntries(ATTEMPT_OUTCOMES.map((name) => [name, 0]))
  const stored = async (formId: number) =>
    (
      await rows.db.read
        .selectFrom('form_attempts')
        .select(['day', 'outcome', 'field', 'attempts'])
        .where('form_id', '=', formId)
        .orderBy('day')
        .orderBy('outcome')
        .orderBy('field')
        .execute()
    ).map((row) => ({ ...row, attempts: Number(row.attempts) }))

  test('are counted by outcome, and by field where fields were wrong', async () => {
    const { id, formKey } = await newForm()
    const attempts = open()
    const counted: [AttemptOutcome, number][] = [
      ['stored', 5],
      ['spam', 2],
      ['honeypot', 2],
      ['captcha', 1],
      ['validation', 3],
      ['rateLimited', 4],
      ['origin', 1],
      ['tooLarge', 1],
      ['unreadable', 1],
    ]
    for (const [outcome, times] of counted) for (let n = 0; n < times; n++) attempts.count(id, outcome)
    for (const field of ['email', 'message', 'email', '__proto__']) attempts.count(id, 'validation', field)
    expect(await losses(attempts, formKey)).toEqual({
      start: '2026-02-28T00:00:00.000Z',
      end: '2026-03-30T00:00:00.000Z',
      attempts: 20,
      outcomes: Object.fromEntries(counted),
      fields: [
        { field: 'email', attempts: 2 },
        { field: '__proto__', attempts: 1 },
        { field: 'message', attempts: 1 },
      ],
    })
    await attempts.close()
  })

  test('are zero for a form without attempts, and 404 for an unknown form or another workspace’s', async () => {
    const { formKey } = await newForm()
    const attempts = open()
    expect(await losses(attempts, formKey)).toMatchObject({ attempts: 0, outcomes: none, fields: [] })
    for (const [path, workspaceId] of [
      [`${formKey}/losses`, 2],
      ['zzzzzzzzzz/losses', 1],
      ['a%00b/losses', 1],
    ] as const) {
      const { status, body } = await ask(attempts, path, workspaceId)
      expect([status, body]).toEqual([404, { error: 'Form not found' }])
    }
    await attempts.close()
  })

  test('are counted by UTC day, and a part of a day counts as the whole day', async () => {
    const { id, formKey } = await newForm()
    const attempts = open()
    for (const [moment, times] of [
      ['2026-02-01T23:59:59.999Z', 1],
      ['2026-03-28T23:59:59.999Z', 2],
      ['2026-03-29T00:00:00.000Z', 4],
      ['2026-03-29T23:59:59.999Z', 8],
    ] as const) {
      now = Date.parse(moment)
      for (let n = 0; n < times; n++) attempts.count(id, 'stored')
    }
    now = NOON
    const count = async (query: string) => (await losses(attempts, formKey, query)).attempts
    expect(await count('')).toBe(14)
    expect(await count('?start=2026-01-01')).toBe(15)
    expect(await count('?start=2026-03-29')).toBe(12)
    expect(await count('?start=2026-03-29T23:00:00Z')).toBe(12)
    expect(await count('?end=2026-03-28')).toBe(2)
    expect(await count('?end=2026-03-29T00:00:00Z')).toBe(2)
    expect(await count('?start=2026-03-28T10:00:00Z&end=2026-03-29T00:00:00.001Z')).toBe(14)
    expect(await losses(attempts, formKey, '?start=2026-03-28&end=2026-03-28')).toMatchObject({
      start: '2026-03-28T00:00:00.000Z',
      end: '2026-03-29T00:00:00.000Z',
    })
    expect(await count('?start=2030-01-01')).toBe(0)
    for (const [query, field] of [
      ['?start=yesterday', 'start'],
      ['?end=2026-02-30', 'end'],
      ['?start=2026-03-29&end=2026-03-28', 'start'],
      ['?start=2026-03-29&start=2026-03-29', 'start'],
      ['?day=2026-03-29', 'day'],
    ] as const) {
      const { status, body } = await ask(attempts, `${formKey}/losses${query}`)
      expect([query, status, Object.keys(body.errors)]).toEqual([query, 422, [field]])
    }
    await attempts.close()
  })

  test('are few rows for many attempts, shared by all processes', async () => {
    const { id } = await newForm()
    const [one, other] = [open(), open()]
    for (let n = 0; n < 2000; n++) (n % 2 ? one : other).count(id, n % 4 < 2 ? 'rateLimited' : 'origin')
    await Promise.all([one.flush(), other.flush(), one.flush()])
    one.count(id, 'origin')
    await one.close()
    await other.close()
    expect(await stored(id)).toEqual([
      { day: '2026-03-29', outcome: 'origin', field: '', attempts: 1001 },
      { day: '2026-03-29', outcome: 'rateLimited', field: '', attempts: 1000 },
    ])
  })

  test('are written by themselves after a moment, and again after more attempts', async () => {
    const { id } = await newForm()
    const attempts = open(rows.db, 5)
    attempts.count(id, 'stored')
    await until('the first is written', async () => (await stored(id))[0]?.attempts === 1)
    attempts.count(id, 'stored')
    await until('the second is written', async () => (await stored(id))[0]?.attempts === 2)
    await attempts.close()
    attempts.count(id, 'stored')
    await attempts.flush()
    expect((await stored(id))[0]?.attempts).toBe(2)
  })

  test('of a deleted form are dropped, and the counts of other forms are still written', async () => {
    const [gone, here] = [await newForm(), await newForm()]
    const attempts = open()
    attempts.count(gone.id, 'stored')
    await attempts.flush()
    attempts.count(gone.id, 'stored')
    attempts.count(here.id, 'stored')
    await rows.db.write((connection) => connection.deleteFrom('forms').where('id', '=', gone.id).execute())
    await attempts.close()
    expect([await stored(gone.id), (await stored(here.id)).length]).toEqual([[], 1])
  })

  test('wait in bounded memory while the database is down, and are written afterwards', async () => {
    const { id } = await newForm()
    let away = true
    const attempts = open({
      ...rows.db,
      write: (verb) => (away ? Promise.reject(unavailable(new Error('away'))) : rows.db.write(verb)),
    })
    for (let n = 0; n < 3; n++) {
      attempts.count(id, 'stored')
      await attempts.flush()
    }
    // More different counts than memory holds: those that it has already still grow.
    for (let form = 0; form < 10_050; form++) attempts.count(1_000_000 + form, 'origin')
    attempts.count(id, 'stored')
    expect(await stored(id)).toEqual([])
    away = false
    await attempts.close()
    expect(await stored(id)).toEqual([{ day: '2026-03-29', outcome: 'stored', field: '', attempts: 4 }])
  })

  test('count on the UTC day of the attempt, however long they wait', async () => {
    const { id } = await newForm()
    const attempts = open()
    attempts.count(id, 'stored')
    now = NOON + DAY
    attempts.count(id, 'stored')
    await attempts.close()
    now = NOON
    expect((await stored(id)).map(({ day }) => day)).toEqual(['2026-03-29', '2026-03-30'])
  })
})
