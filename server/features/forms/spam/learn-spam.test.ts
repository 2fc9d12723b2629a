// The classifier's counts are exact, whatever people do with submissions: compared with a count from the start.

import { expect, test } from 'bun:test'
import { BEHIND_PROXY, SCRIPT_HEADERS, sendTo } from '../../../../tests/support/form-requests.ts'
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
  const { formKey } = await ws.createForm()
  const { id: formId } = await server.row('forms', { form_key: formKey })
  return { formKey, formId }
}

/** The counts as they are stored. */
async function readCounts(server: TestServer, workspaceId: number) {
  const [totals] = await server.rows('spam_totals', { workspace_id: workspaceId })
  const words = await server.rows('spam_words', { workspace_id: workspaceId })
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
          expect((await ws.patch('/submissions/bulk', body)).status).toBe(200)
          for (const one of some) applyStatus(one, status)
        } else if (chance < 0.85) {
          const one = pick(present, random)
          expect((await ws.patch(`/submissions/${one.id}`, { status })).status).toBe(200)
          applyStatus(one, status)
        } else if (chance < 0.95) {
          const one = pick(present, random)
          await ws.delete(`/submissions/${one.id}`)
          present = present.filter((other) => other !== one)
          deleted.push(one)
        } else {
          const { email } = pick(present, random)
          await ws.delete(`/submissions?email=${email}`)
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
        ws.patch('/submissions/bulk', {
          ids: i % 2 ? ids : ids.toReversed(),
          status: i % 3 ? 'spam' : 'read',
        }),
      ),
    )
    const rows = await server().rows('submissions', { form_id: formId })
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
    const lesson = async () => decodeLesson((await server().row('submissions', { id })).learned)?.numbers
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
    await ws.patch('/submissions/bulk', { ids: [first, copy], status: 'spam' })
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
      const { formKey } = (await ws.post('/forms', { name: 'Contact', spam })).json.data
      for (const message of ['casino', 'hello'])
        await sendTo(server(), formKey).json({ message }, SCRIPT_HEADERS)
      const [good, held] = (await ws.api(`/forms/${formKey}/submissions`)).json.data
      await server().update(
        'submissions',
        { workspace_id: ws.id, id: held.id },
        { created_at: server().now() - 3 * 60 * 60_000 - 1000 },
      )
      const read = createNotificationContentReader({
        db,
        origin: 'https://go.example',
        resolvePendingAttribution: async () => {},
        toFileUrl: () => '',
      })
      await ws.patch(`/submissions/${held.id}`, { status: 'new' })
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
