// Spam through the front door: what senders and owners see of rules, of the classifier and of allowed senders.

import { expect, test } from 'bun:test'
import { BEHIND_PROXY, SCRIPT_HEADERS, sendTo } from '../../../../tests/support/form-requests.ts'
import { quick } from '../../../../tests/support/suite.ts'
import { onBothEngines, type TestServer, type TestWorkspace } from '../../../../tests/support/world.ts'

const GOOD_WORDS =
  'bicycle saddle repair saturday appointment wheel brakes tyre price kindly workshop opening'.split(' ')
const SPAM_WORDS =
  'seo backlinks ranking traffic guaranteed casino bonus loan crypto invest website offer'.split(' ')

/** A message of some words of a list, another one for each number. */
const toMessage = (words: string[], n: number) =>
  [0, 1, 2, 3, 4, 5].map((i) => words[(n * 5 + i * (1 + (n % 3))) % words.length]).join(' ')

async function createForm(server: TestServer, ws: TestWorkspace, settings: object) {
  const { formKey: key } = (await ws.post('/forms', { name: 'Contact', ...settings })).json.data
  const to = sendTo(server, key)
  return {
    ...to,
    key,
    async send(fields: Record<string, string>) {
      const answer = await to.json(fields, SCRIPT_HEADERS)
      const { data } = (await ws.api(`/forms/${key}/submissions?limit=1`)).json
      return { answer, submission: data[0] }
    },
    list: async (query = '') => (await ws.api(`/forms/${key}/submissions?limit=100${query}`)).json.data,
  }
}

const createChannel = async (ws: TestWorkspace) =>
  (await ws.post('/channels', { type: 'webhook', name: 'Hook', url: 'https://hooks.example/x' })).json.data
    .id as number

const setStatus = (ws: TestWorkspace, ids: number[], status: string) =>
  ws.patch('/submissions/bulk', { ids, status })

const listDeliveries = async (ws: TestWorkspace) => (await ws.api('/deliveries')).json.data

/** Teaches a number of messages of each kind. */
async function train(ws: TestWorkspace, form: Awaited<ReturnType<typeof createForm>>, each: number) {
  for (const [words, status] of [
    [GOOD_WORDS, 'read'],
    [SPAM_WORDS, 'spam'],
  ] as const) {
    const ids: number[] = []
    for (let n = 0; n < each; n++)
      ids.push((await form.send({ message: `${toMessage(words, n)} ${n}` })).submission.id)
    expect((await setStatus(ws, ids, status)).status).toBe(200)
  }
}

onBothEngines(
  'spam',
  (server) => {
    test('is answered as any other submission, and stored with its reasons, without a notification', async () => {
      const ws = await server().createWorkspace()
      const channelIds = [await createChannel(ws)]
      const spam = {
        words: ['casino', 'crypto*'],
        maxLinks: 1,
        domains: ['bad.example'],
        emails: ['*@spam.example'],
      }
      const form = await createForm(server(), ws, { channelIds, spam })
      const good = await form.send({ email: 'ada@example.com', message: 'Hello' })
      const bad = await form.send({
        email: 'bob@spam.example',
        message: 'CASINO and cryptocurrency at https://shop.bad.example/x and www.good.example',
      })
      expect(bad.answer).toMatchObject({ status: good.answer.status, json: good.answer.json })
      expect(good.submission).toMatchObject({ status: 'new', spamReasons: [] })
      expect(bad.submission).toMatchObject({
        status: 'spam',
        spamReasons: [
          'The address bob@spam.example in the field "email" is on the list of this form ("*@spam.example").',
          'The domain shop.bad.example in the field "message" is on the list of this form ("bad.example").',
          'The word "casino" in the field "message" is on the list of this form.',
          'The word "cryptocurrency" in the field "message" is on the list of this form ("crypto*").',
          'The field "message" has 2 links; this form allows 1.',
        ],
      })
      const deliveries = await listDeliveries(ws)
      expect(deliveries.map(({ submissionId }: { submissionId: number }) => submissionId)).toEqual([
        good.submission.id,
      ])
      const { outcomes, attempts } = (await ws.api(`/forms/${form.key}/losses`)).json.data
      expect([attempts, outcomes.stored, outcomes.spam]).toEqual([2, 1, 1])
    })

    test('notifies once when somebody takes it out, one by one or together, and says so', async () => {
      const ws = await server().createWorkspace()
      const channelIds = [await createChannel(ws)]
      const form = await createForm(server(), ws, { channelIds, spam: { words: ['casino'] } })
      const ids: number[] = []
      for (const n of [1, 2, 3]) ids.push((await form.send({ message: `casino ${n}` })).submission.id)
      const [a, b, c] = ids as [number, number, number]
      expect(await listDeliveries(ws)).toEqual([])
      await ws.patch(`/submissions/${a}`, { status: 'new' })
      await ws.patch(`/submissions/${a}`, { status: 'spam' })
      await ws.patch(`/submissions/${a}`, { status: 'read' })
      await setStatus(ws, [b, c], 'archived')
      await setStatus(ws, [b, c], 'new')
      const announced = (await listDeliveries(ws)).map((d: { submissionId: number }) => d.submissionId)
      expect(announced.toSorted()).toEqual([a, b, c])
    })

    test('comes back with its original when somebody takes out the copy of a double click', async () => {
      const ws = await server().createWorkspace()
      const channelIds = [await createChannel(ws)]
      const form = await createForm(server(), ws, { channelIds, spam: { words: ['casino'] } })
      const headers = { ...SCRIPT_HEADERS, 'X-Forwarded-For': '10.99.1.1' }
      for (const _ of [1, 2]) await form.json({ message: 'casino' }, headers)
      const [copy, original] = await form.list()
      expect([copy.duplicateOf, copy.status, original.status]).toEqual([original.id, 'spam', 'spam'])
      await setStatus(ws, [copy.id], 'new')
      expect((await form.list()).map(({ status }: { status: string }) => status)).toEqual(['new', 'new'])
      const deliveries = await listDeliveries(ws)
      expect(deliveries.map((d: { submissionId: number }) => d.submissionId)).toEqual([original.id])
    })

    quick(
      'is learned from statuses, from twenty of each kind on, and the classifier gives its reasons',
      async () => {
        const ws = await server().createWorkspace()
        const form = await createForm(server(), ws, { spam: { learn: true } })
        const other = await createForm(server(), ws, { spam: { learn: false } })
        await train(ws, form, 19)
        const unsure = await form.send({ message: 'seo backlinks ranking guaranteed casino bonus' })
        expect(unsure.submission.status).toBe('new')
        await setStatus(ws, [unsure.submission.id], 'spam')
        await setStatus(ws, [(await form.send({ message: 'bicycle saddle' })).submission.id], 'archived')
        const { submission } = await form.send({
          message: 'best seo backlinks and ranking, guaranteed bonus',
        })
        expect(submission).toMatchObject({
          status: 'spam',
          spamReasons: [
            expect.stringMatching(
              /^The classifier is 99\.\d % sure; strongest: "\w+" \([\d.]+ times as often in spam\), "/,
            ),
          ],
        })
        for (const message of ['bicycle repair on saturday, kindly', 'something else entirely'])
          expect((await form.send({ message })).submission.status).toBe('new')
        const unjudged = await other.send({ message: 'best seo backlinks and ranking, guaranteed bonus' })
        expect(unjudged.submission.status).toBe('new')
      },
    )

    test('of an allowed sender does not exist, and only while the sender is allowed', async () => {
      const ws = await server().createWorkspace()
      const form = await createForm(server(), ws, { spam: { words: ['casino'] } })
      const allowed = await ws.post('/allowed-senders', { address: ' Ada@Example.com ' })
      expect([allowed.status, allowed.json.data.address]).toEqual([201, 'ada@example.com'])
      const again = await ws.post('/allowed-senders', { address: 'ada@example.com' })
      expect([again.status, again.json.data.id]).toEqual([201, allowed.json.data.id])
      await ws.post('/allowed-senders', { address: '*@friends.example' })
      let sent = 0
      const statusOf = async (email: string) =>
        (await form.send({ email, message: `casino ${sent++}` })).submission.status
      expect(await statusOf('ADA@example.com')).toBe('new')
      expect(await statusOf('bob@friends.example')).toBe('new')
      expect(await statusOf('bob@sub.friends.example')).toBe('spam')
      const list = (await ws.api('/allowed-senders')).json
      expect(list.data.map(({ address }: { address: string }) => address)).toEqual([
        '*@friends.example',
        'ada@example.com',
      ])
      const stranger = await server().createWorkspace()
      expect((await stranger.api('/allowed-senders')).json.data).toEqual([])
      const path = `/allowed-senders/${allowed.json.data.id}`
      expect((await stranger.delete(path)).status).toBe(404)
      expect((await ws.delete(path)).status).toBe(200)
      expect(await statusOf('ada@example.com')).toBe('spam')
      await ws.delete('/submissions?email=ada@example.com')
      for (const address of ['ada', '*@', '@example.com', '*', 'a*@example.com '.repeat(30), 7])
        expect([address, (await ws.post('/allowed-senders', { address })).status]).toEqual([address, 422])
    })

    test('rules that could match nothing or everything are refused at their place', async () => {
      const ws = await server().createWorkspace()
      const wrong = {
        words: ['*', '!!', 'buy * now'],
        emails: ['spam'],
        domains: ['https://spam.example'],
        maxLinks: -1,
      }
      const { status, json } = await ws.post('/forms', { name: 'x', spam: wrong })
      expect([status, json.errors]).toEqual([
        422,
        {
          'spam.words.0': 'must have a character other than *',
          'spam.words.1': 'must have a letter, a digit or a symbol',
          'spam.words.2': 'may have * only at its ends when it has several words',
          'spam.emails.0': 'must be an address or *@ and a domain',
          'spam.domains.0': 'must be a domain such as spam.example',
          'spam.maxLinks': expect.any(String),
        },
      ])
    })
  },
  BEHIND_PROXY,
)
