// The classifier's counts are exact, whatever people do with submissions: compared with a count from the start.

import { expect, test } from 'bun:test'
import {
  BEHIND_PROXY,
  JSON_TYPE,
  postToForm,
  SCRIPT_HEADERS,
} from '../../../../tests/support/form-requests.ts'
import { atScale } from '../../../../tests/support/suite.ts'
import { onBothEngines, type TestServer, type TestWorkspace } from '../../../../tests/support/world.ts'
import { createRandom, pick } from '../../../lib/seeded-random.ts'
import { createNotificationContentReader } from '../submissions/notification-content.ts'
import { insertSubmissions } from '../submissions/submission.fixture.ts'
import { readFeatures } from './features.ts'
import { createSpamLearner } from './learn-spam.ts'
import { decodeLesson } from './number-features.ts'

const WORDS = 'bicycle saddle casino bonus repair seo hello price loan'.split(' ')
const STATUSES = ['new', 'read', 'archived', 'spam'] as const

async function createForm(server: TestServer, ws: TestWorkspace) {
  const { formKey } = (await ws.api('/forms', { method: 'POST', body: { name: 'Contact' } })).json.data
  const { id: formId } = await server.app.db.read
    .selectFrom('forms')
    .select('id')
    .where('form_key', '=', formKey)
    .executeTakeFirstOrThrow()
  return { formKey, formId }
}

/** The counts as they are stored. */
async function readCounts({ app: { db } }: TestServer, workspaceId: number) {
  const totals = await db.read
    .selectFrom('spam_totals')
    .select(['spam', 'good'])
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirst()
  const words = await db.read
    .selectFrom('spam_words')
    .select(['spam', 'good'])
    .where('workspace_id', '=', workspaceId)
    .execute()
  const counts = words.map(({ spam, good }) => `${Number(spam)} ${Number(good)}`).sort()
  return { spam: Number(totals?.spam ?? 0), good: Number(totals?.good ?? 0), counts }
}

interface Known {
  id: number
  email: string
  message: string
  status: string
  verdict: 'spam' | 'good' | undefined
}

/** The same from what was taught, without numbers of features. */
function recount(taught: Known[]) {
  const words = new Map<string, { spam: number; good: number }>()
  const totals = { spam: 0, good: 0 }
  for (const { email, message, verdict } of taught) {
    if (!verdict) continue
    totals[verdict]++
    const fields = new Map(Object.entries({ email, message }))
    for (const name of readFeatures({ fields, pageSeconds: null }).keys()) {
      const word = words.get(name) ?? { spam: 0, good: 0 }
      word[verdict]++
      words.set(name, word)
    }
  }
  return { ...totals, counts: [...words.values()].map(({ spam, good }) => `${spam} ${good}`).sort() }
}

function applyStatus(submission: Known, status: (typeof STATUSES)[number]) {
  const wasHeld = submission.status === 'spam'
  submission.status = status
  if (status === 'spam') submission.verdict = 'spam'
  else if (status !== 'new' || wasHeld) submission.verdict = 'good'
}

onBothEngines('the counts of the classifier', (server) => {
  test.each(Array.from({ length: atScale({ quick: 1, full: 3, soak: 40 }) }, (_, i) => [i]))(
    'are exact after any history of statuses, deletions and erasures (%d)',
    async (seed) => {
      const random = createRandom(seed)
      const ws = await server().createWorkspace()
      const { formId } = await createForm(server(), ws)
      const messages = Array.from({ length: 30 }, (_, i) => {
        const text = Array.from({ length: 1 + Math.floor(random() * 6) }, () => pick(WORDS, random))
        return { email: `p${i % 7}@example.com`, message: text.join(' ') }
      })
      const ids = await server().app.db.write((connection) =>
        insertSubmissions(
          connection,
          { workspaceId: ws.id, formId },
          messages.map((one) => ({ fields: Object.entries(one), email: one.email })),
        ),
      )
      let present: Known[] = messages.map((one, i) => ({
        ...one,
        id: ids[i] as number,
        status: 'new',
        verdict: undefined,
      }))
      /** The lessons of a deleted submission stay. */
      const deleted: Known[] = []
      for (let step = 0; step < 25 && present.length > 3; step++) {
        const some = present.filter(() => random() < 0.3)
        const status = pick(STATUSES, random)
        const chance = random()
        if (chance < 0.6 && some.length > 0) {
          const body = { ids: some.map(({ id }) => id), status }
          expect((await ws.api('/submissions/bulk', { method: 'PATCH', body })).status).toBe(200)
          for (const one of some) applyStatus(one, status)
        } else if (chance < 0.85) {
          const one = pick(present, random)
          expect((await ws.api(`/submissions/${one.id}`, { method: 'PATCH', body: { status } })).status).toBe(
            200,
          )
          applyStatus(one, status)
        } else if (chance < 0.95) {
          const one = pick(present, random)
          await ws.api(`/submissions/${one.id}`, { method: 'DELETE' })
          present = present.filter((other) => other !== one)
          deleted.push(one)
        } else {
          const { email } = pick(present, random)
          await ws.api(`/submissions?email=${email}`, { method: 'DELETE' })
          present = present.filter((other) => other.email !== email)
        }
        expect(await readCounts(server(), ws.id)).toEqual(recount([...present, ...deleted]))
      }
    },
  )

  test('are exact when people change the same submissions at the same moment', async () => {
    const ws = await server().createWorkspace()
    const { formId } = await createForm(server(), ws)
    const ids = await server().app.db.write((connection) =>
      insertSubmissions(
        connection,
        { workspaceId: ws.id, formId },
        Array.from({ length: 10 }, (_, i) => ({ fields: [['message', `${WORDS[i % 5]} x`]] })),
      ),
    )
    await Promise.all(
      Array.from({ length: 12 }, (_, i) =>
        ws.api('/submissions/bulk', {
          method: 'PATCH',
          body: { ids: i % 2 ? ids : ids.toReversed(), status: i % 3 ? 'spam' : 'read' },
        }),
      ),
    )
    const rows = await server()
      .app.db.read.selectFrom('submissions')
      .select(['status', 'learned'])
      .where('form_id', '=', formId)
      .execute()
    const lessons = rows.map(({ learned }) => decodeLesson(learned))
    expect(lessons.map((lesson) => lesson?.verdict)).toEqual(
      rows.map(({ status }) => (status === 'spam' ? 'spam' : 'good')),
    )
    const words = new Map<number, { spam: number; good: number }>()
    const totals = { spam: 0, good: 0 }
    for (const lesson of lessons) {
      if (!lesson) continue
      totals[lesson.verdict]++
      for (const number of lesson.numbers) {
        const word = words.get(number) ?? { spam: 0, good: 0 }
        word[lesson.verdict]++
        words.set(number, word)
      }
    }
    const counts = [...words.values()].map(({ spam, good }) => `${spam} ${good}`).sort()
    expect(await readCounts(server(), ws.id)).toEqual({ ...totals, counts })
  })

  test('have no words, and another secret finds none of them', async () => {
    const ws = await server().createWorkspace()
    const { formId } = await createForm(server(), ws)
    const { db } = server().app
    const [id = 0] = await db.write((connection) =>
      insertSubmissions(connection, { workspaceId: ws.id, formId }, [
        { fields: [['message', 'unmistakable']] },
      ]),
    )
    const learnWith = (secret: string) =>
      db.write(async (connection, onCommit) => {
        const submissions = [{ id, learned: null, bytes: 10 }]
        await createSpamLearner(secret, { invalidate() {} }).learn(connection, onCommit, ws.id, {
          verdict: 'spam',
          submissions,
        })
      })
    await learnWith('one secret')
    const lesson = async () =>
      decodeLesson(
        (
          await db.read
            .selectFrom('submissions')
            .select('learned')
            .where('id', '=', id)
            .executeTakeFirstOrThrow()
        ).learned,
      )?.numbers
    const first = await lesson()
    await learnWith('another secret')
    expect(await lesson()).not.toEqual(first)
  })

  test('are of the first of identical submissions only', async () => {
    const ws = await server().createWorkspace()
    const { formId } = await createForm(server(), ws)
    const store = (duplicateOf: number | null) =>
      server().app.db.write((connection) =>
        insertSubmissions(connection, { workspaceId: ws.id, formId }, [{ duplicate_of: duplicateOf }]),
      )
    const [first = 0] = await store(null)
    const [copy = 0] = await store(first)
    await ws.api('/submissions/bulk', { method: 'PATCH', body: { ids: [first, copy], status: 'spam' } })
    expect(await readCounts(server(), ws.id)).toMatchObject({ spam: 1, good: 0 })
  })
})

onBothEngines(
  'a late notification',
  (server) => {
    test('says how long the submission was held back, and a webhook says as what', async () => {
      const ws = await server().createWorkspace()
      const { db } = server().app
      const spam = { words: ['casino'] }
      const { formKey } = (await ws.api('/forms', { method: 'POST', body: { name: 'Contact', spam } })).json
        .data
      await postToForm(server(), { key: formKey }, JSON_TYPE, '{"message":"casino"}', SCRIPT_HEADERS)
      await postToForm(server(), { key: formKey }, JSON_TYPE, '{"message":"hello"}', SCRIPT_HEADERS)
      const [good, held] = (await ws.api(`/forms/${formKey}/submissions`)).json.data
      await db.write((connection) =>
        connection
          .updateTable('submissions')
          .set({ created_at: server().now() - 3 * 60 * 60_000 - 1000 })
          .where('workspace_id', '=', ws.id)
          .where('id', '=', held.id)
          .execute(),
      )
      const read = createNotificationContentReader({
        db,
        origin: 'https://go.example',
        resolvePendingAttribution: async () => {},
        toFileUrl: () => '',
      })
      await ws.api(`/submissions/${held.id}`, { method: 'PATCH', body: { status: 'new' } })
      const late = await read(ws.id, held.id)
      expect(late?.attribution).toStartWith('Held back as spam for 3 hours')
      expect(JSON.parse(late?.submissionJson ?? '').heldAs).toBe('spam')
      const usual = await read(ws.id, good.id)
      expect(usual?.attribution).not.toContain('Held back')
      expect(JSON.parse(usual?.submissionJson ?? '')).not.toHaveProperty('heldAs')
    })
  },
  BEHIND_PROXY,
)
