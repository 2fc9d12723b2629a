// Storing a submission: duplicates, and what happens when its form, its token or the database is gone.

import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import {
  BEHIND_PROXY,
  createTestForm,
  nextSenderAddress,
  SCRIPT_HEADERS,
  type TestForm,
  URLENCODED_TYPE,
} from '../../../../tests/support/form-requests.ts'
import { quick } from '../../../../tests/support/suite.ts'
import { onBothEngines, startServer } from '../../../../tests/support/world.ts'
import { spendToken } from '../captcha/spent-tokens.ts'
import { type FormSettings, findFormSettings } from '../settings/form-settings.ts'
import { storeSubmission } from './store-submission.ts'

const NOBODY = {
  visitor: '0',
  device: null,
  browser: null,
  os: null,
  country: null,
  region: null,
  city: null,
  referrer: null,
  pageUrl: null,
  utmSource: null,
  utmMedium: null,
  utmCampaign: null,
  utmTerm: null,
  utmContent: null,
}
const SENT = {
  at: 1,
  fields: new Map([['a', '1']]),
  email: undefined,
  address: '192.0.2.1',
  userAgent: '',
  referer: '',
  eventId: undefined,
  trackingOptOut: false,
  isTest: false,
  files: [],
  spamReasons: [],
  consent: null,
  language: null,
}

const BEFORE_MIDNIGHT = Date.parse('2026-03-01T23:59:50.000Z')
let at = BEFORE_MIDNIGHT

onBothEngines.quick(
  'an identical submission',
  (server) => {
    const send = (form: TestForm, address: string) => form.fetch('a=1', { 'X-Forwarded-For': address })

    test.each([
      ['after 29.999 s', [29_999], [0]],
      ['after 30 s is a new submission', [30_000], [undefined]],
      ['of a duplicate repeats the first submission', [20_000, 20_000, 20_000], [0, 0, 0]],
      ['just after midnight, under another salt', [15_000], [0]],
    ])('%s', async (_, waits, firsts) => {
      const form = await createTestForm(server())
      const address = nextSenderAddress()
      at = BEFORE_MIDNIGHT
      await send(form, address)
      for (const wait of waits) {
        at += wait
        expect((await send(form, address)).status).toBe(200)
      }
      const rows = await form.submissions()
      expect(rows.map(({ duplicate_of }) => duplicate_of)).toEqual([
        null,
        ...firsts.map((index) => (index === undefined ? null : (rows[index]?.id as number))),
      ])
      expect(rows[0]?.created_at).toBe(BEFORE_MIDNIGHT)
    })

    test('is recognized when both come at the same moment', async () => {
      const form = await createTestForm(server())
      const headers = { ...SCRIPT_HEADERS, 'X-Forwarded-For': nextSenderAddress() }
      await Promise.all(Array.from({ length: 10 }, () => form.post(URLENCODED_TYPE, 'a=1', headers)))
      const [first, ...others] = await form.submissions()
      expect(others.map(({ duplicate_of }) => duplicate_of)).toEqual(Array(9).fill(first?.id))
      expect(first?.duplicate_of).toBeNull()
    })
  },
  { ...BEHIND_PROXY, now: () => at },
)

onBothEngines.quick('storing a submission', (server) => {
  const needs = () => ({
    db: server().app.db,
    now: server().now,
    getSalt: () => 'salt',
    describeSender: () => NOBODY,
    matchVisit: () => ({ visit: undefined, touches: [], click: undefined, referrer: null }),
    recordTouches: async () => {},
    replies: { mayAnswer: () => false, mustConfirm: () => false, answer: async () => {}, metrics: () => [] },
    uploadBytesPerWorkspace: 0,
    wakeDeliverer() {},
  })
  const settingsOf = async (form: TestForm) =>
    (await findFormSettings(server().app.db, form.key)) as FormSettings

  test('stores one of fifty parallel submissions with one token, and a failure uses up no token', async () => {
    const form = await createTestForm(server())
    const settings = await settingsOf(form)
    const token = {
      spend: (connection: Parameters<typeof spendToken>[0]) =>
        spendToken(connection, `token of ${form.key}`, server().now() + 60_000),
    }
    // The database refuses this row. The token must stay unused.
    const nowhere = { ...settings, id: 2 ** 40 }
    expect(storeSubmission(needs(), nowhere, { ...SENT, token })).rejects.toThrow('Form not found')
    const all = await Promise.all(
      Array.from({ length: 50 }, () => storeSubmission(needs(), settings, { ...SENT, token })),
    )
    expect(all.filter((result) => typeof result === 'object')).toHaveLength(1)
    expect(await form.submissions()).toHaveLength(1)
  })

  test('recognizes what the process before has stored', async () => {
    const form = await createTestForm(server())
    const settings = await settingsOf(form)
    const submission = { ...SENT, address: nextSenderAddress(), token: undefined }
    const first = await storeSubmission(needs(), settings, submission)
    const started = { ...needs(), db: { ...server().app.db } }
    await storeSubmission(started, settings, { ...submission, at: SENT.at + 29_999 })
    await storeSubmission(started, settings, { ...submission, at: SENT.at + 60_000 })
    const rows = await form.submissions()
    expect(rows.map(({ duplicate_of }) => duplicate_of)).toEqual([null, (first as { id: number }).id, null])
  })

  test('answers 404 for a form that was deleted in between', async () => {
    const form = await createTestForm(server())
    const settings = await settingsOf(form)
    await server().app.db.write((connection) =>
      connection.deleteFrom('forms').where('workspace_id', '=', form.workspaceId).execute(),
    )
    expect(storeSubmission(needs(), settings, { ...SENT, token: undefined })).rejects.toMatchObject({
      status: 404,
      message: 'Form not found',
    })
  })
})

describe('submissions that PostgreSQL stores together', () => {
  quick(
    'do not wait for the form of another one that is being deleted',
    async () => {
      const server = await startServer('postgres', BEHIND_PROXY)
      const deleted = Promise.withResolvers<void>()
      try {
        const [kept, leaving] = [await createTestForm(server), await createTestForm(server)]
        const sendFive = (form: TestForm) =>
          Array.from({ length: 5 }, (_, n) => form.post(URLENCODED_TYPE, `a=${n}`, SCRIPT_HEADERS))
        const listStatuses = async (answers: Promise<{ status: number }>[]) =>
          (await Promise.all(answers)).map(({ status }) => status)
        const deleting = Promise.withResolvers<void>()
        const deletion = server.app.db.write(async (connection) => {
          await connection.deleteFrom('forms').where('form_key', '=', leaving.key).execute()
          deleting.resolve()
          await deleted.promise
        })
        await deleting.promise
        const [toLeaving, toKept] = [sendFive(leaving), sendFive(kept)]
        expect(await listStatuses(toKept)).toEqual([200, 200, 200, 200, 200])
        deleted.resolve()
        await deletion
        expect(await listStatuses(toLeaving)).toEqual([404, 404, 404, 404, 404])
        expect(await kept.submissions()).toHaveLength(5)
      } finally {
        deleted.resolve()
        await server.close()
      }
    },
    60_000,
  )
})

describe('while the database takes no writes', () => {
  quick(
    'every sender gets 503 in both modes, and nothing is stored in part',
    async () => {
      const server = await startServer('sqlite', BEHIND_PROXY)
      const other = new Database(join(server.dataDir, 'towpath.db'))
      try {
        const form = await createTestForm(server, { redirectUrl: 'https://done.example/' })
        other.run('BEGIN IMMEDIATE')
        const [script, native, program] = await Promise.all([
          form.fetch('a=1'),
          form.navigate('a=2', { Referer: 'https://site.example/' }),
          form.post(URLENCODED_TYPE, 'a=3', { Accept: '*/*' }),
        ])
        other.run('ROLLBACK')
        for (const answer of [script, program])
          expect([answer.status, answer.text]).toEqual([503, '{"error":"Temporarily unavailable"}'])
        expect([native.status, native.headers.get('location'), native.headers.get('content-type')]).toEqual([
          503,
          null,
          'text/html; charset=utf-8',
        ])
        for (const { headers } of [script, native, program]) {
          expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
          expect(headers.get('access-control-allow-origin')).toBe('*')
        }
        expect(await form.submissions()).toEqual([])
        expect((await form.fetch('a=4')).text).toBe('{"ok":true}')
        expect(await form.submissions()).toHaveLength(1)
      } finally {
        other.close()
        await server.close()
      }
    },
    120_000,
  )
})
