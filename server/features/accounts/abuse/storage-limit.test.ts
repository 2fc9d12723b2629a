// The daily limit on rows that strangers cause: refused at the door, seen in the metrics, reported to the owners once.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startMailServer } from '../../../../tests/support/fake-servers/mail-server.ts'
import { nextSenderAddress } from '../../../../tests/support/form-requests.ts'
import { findFreePort } from '../../../../tests/support/processes/free-port.ts'
import { readMetric } from '../../../../tests/support/read-metrics.ts'
import { until } from '../../../../tests/support/until.ts'
import { onBothEngines, type TestWorkspace } from '../../../../tests/support/world.ts'
import { createStorageLimit } from './storage-limit.ts'

const mailPort = findFreePort()
let mail: Awaited<ReturnType<typeof startMailServer>>
beforeAll(async () => {
  mail = await startMailServer({ port: mailPort })
})
afterAll(() => mail.stop())

onBothEngines(
  'a workspace that has stored as much as it may in a day',
  (server) => {
    async function setUp() {
      const workspace = await server().createWorkspace()
      const body = { name: 'Contact' }
      const { json } = await workspace.post('/forms', body)
      return { workspace, formKey: json.data.formKey as string }
    }
    const submit = (formKey: string) =>
      server().post(`/f/${formKey}`, { message: 'Hello' }, { 'X-Forwarded-For': nextSenderAddress() })
    const metric = (name: string, what: string) => readMetric(server().origin, name, { what })

    async function addOwner({ id }: TestWorkspace) {
      const email = `owner${id}.${server().engine}@example.com`
      await server().app.db.write(async (connection) => {
        const at = { created_at: 1, updated_at: 1 }
        const person = { email, name: 'Owner', image: null, founder: null, ...at }
        const user = await connection
          .insertInto('users')
          .values(person)
          .returning('id')
          .executeTakeFirstOrThrow()
        const member = { workspace_id: id, user_id: user.id, role: 'owner', created_at: 1 }
        await connection.insertInto('members').values(member).execute()
      })
      return email
    }

    test('refuses submissions with 429, tells its owners once, and others go on', async () => {
      const { workspace, formKey } = await setUp()
      const other = await setUp()
      const owner = await addOwner(workspace)
      for (let i = 0; i < 3; i++) expect((await submit(formKey)).status).toBe(200)
      const before = await metric('towpath_storage_refused_total', 'submissions')
      for (let i = 0; i < 2; i++) {
        const refused = await submit(formKey)
        expect(refused.status).toBe(429)
        expect(refused.json).toEqual({ error: 'Too many submissions. Please try again later.' })
        expect(Number(refused.headers.get('retry-after'))).toBeWithin(3_600, 26 * 3_600 + 1)
      }
      expect((await submit(other.formKey)).status).toBe(200)
      const stored = await workspace.api(`/forms/${formKey}/submissions`)
      expect(stored.json.total).toBe(3)
      expect(await metric('towpath_storage_refused_total', 'submissions')).toBe(before + 2)
      expect(await metric('towpath_storage_limit_reached', 'submissions')).toBe(1)
      const toOwner = () => mail.mails.filter(({ to }) => to.includes(owner))
      const [told] = await until('the mail', () => (toOwner().length > 0 ? toOwner() : undefined))
      expect(told?.parsed.subject).toBe('Your forms are rejecting submissions')
      expect(told?.parsed.text).toContain(`/app/${workspace.id}/forms`)
      expect(toOwner()).toHaveLength(1)
    })

    test('refuses page views with 429', async () => {
      const { workspace } = await setUp()
      const { json } = await workspace.api('/workspace')
      const w = json.data.publicId as string
      const view = () =>
        server().post('/e', JSON.stringify({ w, u: 'https://shop.example/' }), {
          'X-Forwarded-For': nextSenderAddress(),
          'User-Agent': 'Mozilla/5.0',
        })
      for (let i = 0; i < 2; i++) expect((await view()).status).toBe(200)
      const refused = await view()
      expect([refused.status, refused.json]).toEqual([429, { error: 'Too many page views' }])
      expect(await metric('towpath_storage_limit_reached', 'page_views')).toBe(1)
    })
  },
  {
    environment: {
      SUBMISSIONS_PER_DAY: '3',
      PAGE_VIEWS_PER_DAY: '2',
      TRUST_PROXY: '127.0.0.1',
      SMTP_URL: `smtp://127.0.0.1:${mailPort}`,
      MAIL_FROM: 'towpath@example.com',
    },
  },
)

const HOUR = 60 * 60_000

function createLimit() {
  let now = 1e9
  const reached: number[] = []
  const limit = createStorageLimit({
    kind: 'submissions',
    perWorkspace: 2,
    clock: () => now,
    onReached: (workspaceId) => reached.push(workspaceId),
  })
  return {
    ...limit,
    reached,
    pass(ms: number) {
      now += ms
    },
  }
}

test('all workspaces together have ten times the limit of one', () => {
  const { take } = createLimit()
  for (let workspace = 1; workspace <= 10; workspace++) expect(take(workspace, 2).allowed).toBe(true)
  expect(take(11).allowed).toBe(false)
})

test('what one workspace is refused takes nothing away from the others', () => {
  const { take } = createLimit()
  for (let i = 0; i < 100; i++) take(1)
  for (let workspace = 2; workspace <= 10; workspace++) expect(take(workspace, 2).allowed).toBe(true)
})

test('there is room again after a day, and an episode is told once', () => {
  const limit = createLimit()
  for (let i = 0; i < 5; i++) limit.take(1)
  limit.pass(HOUR / 2)
  limit.take(1)
  expect(limit.reached).toEqual([1])
  limit.pass(2 * HOUR)
  expect(limit.metrics().find(({ kind }) => kind === 'gauge')?.value).toBe(0)
  limit.take(1)
  expect(limit.reached).toEqual([1, 1])
  limit.pass(27 * HOUR)
  expect(limit.take(1, 2).allowed).toBe(true)
})
