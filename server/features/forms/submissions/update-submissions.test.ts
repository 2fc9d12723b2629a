// Many submissions at once, as the inbox changes and deletes them, who has them, and the names that its rows show.

import { expect, test } from 'bun:test'
import { createTeam } from '../../../../tests/support/users/signed-in-user.ts'
import { onBothEngines, type TestServer, type TestWorkspace } from '../../../../tests/support/world.ts'
import { insertSubmissions, type TestSubmission } from './submission.fixture.ts'

async function createForm(server: TestServer, ws: TestWorkspace, name = 'Contact') {
  const { formKey } = (await ws.post('/forms', { name })).json.data
  const { id: formId } = await server.row('forms', { form_key: formKey })
  const store = (...sent: TestSubmission[]) =>
    server.app.db.write((connection) => insertSubmissions(connection, { workspaceId: ws.id, formId }, sent))
  return { formKey, store }
}

const setStatus = (ws: TestWorkspace, body: unknown) => ws.patch('/submissions/bulk', body)
const remove = (ws: TestWorkspace, ids: number[]) => ws.delete(`/submissions/bulk?ids=${ids}`)

/** The statuses by id, as the list says. */
async function statuses(ws: TestWorkspace) {
  const { data } = (await ws.api('/submissions?limit=100')).json
  return Object.fromEntries(data.map(({ id, status }: { id: number; status: string }) => [id, status]))
}

const NO_MEMBER = 'must be the id of a member of this workspace'

// PostgreSQL locks the rows.
onBothEngines.quick('many submissions at once', (server) => {
  test('get one status, in the order of the request, and a repeated id only once', async () => {
    const ws = await server().createWorkspace()
    const [first, second] = [await createForm(server(), ws), await createForm(server(), ws)]
    const [a = 0, b = 0] = await first.store({ notes: 'kept' }, { status: 'spam' })
    const [c = 0, d = 0] = await second.store({}, {})
    const { status, json } = await setStatus(ws, { ids: [c, a, c, b], status: 'archived' })
    expect([status, json]).toEqual([
      200,
      {
        data: [
          { id: c, status: 'archived' },
          { id: a, status: 'archived' },
          { id: b, status: 'archived' },
        ],
      },
    ])
    expect(await statuses(ws)).toEqual({ [a]: 'archived', [b]: 'archived', [c]: 'archived', [d]: 'new' })
    expect((await ws.api(`/submissions/${a}`)).json.data.notes).toBe('kept')
  })

  test('are of a member, until they leave the workspace', async () => {
    const team = await createTeam(server())
    const { formKey, store } = await createForm(server(), team)
    const [ada = 0, bo = 0, cy = 0] = await store({}, {}, {})
    const { member, owner } = team
    const assign = (id: number, assigneeId: number | null) =>
      member.in(team.id).patch(`/submissions/${id}`, { assigneeId })
    expect((await assign(ada, member.id)).json.data).toMatchObject({ assigneeId: member.id, status: 'new' })
    const many = await setStatus(team, { ids: [cy, bo], assigneeId: owner.id, status: 'read' })
    expect([many.status, many.json.data]).toEqual([200, [cy, bo].map((id) => ({ id, status: 'read' }))])
    await assign(cy, null)
    const find = async (query: string) => {
      const { data, total } = (await team.api(`/submissions?${query}`)).json
      expect(total).toBe(data.length)
      return data.map(({ id }: { id: number }) => id)
    }
    const found = [`assigneeId=${member.id}`, `assigneeId=${owner.id}&status=read`, 'assigneeId=none']
    expect(await Promise.all(found.map(find))).toEqual([[ada], [bo], [cy]])
    await member.in(team.id).delete(`/members/${member.id}`)
    expect(await find('assigneeId=none')).toEqual([cy, ada])
    expect((await team.api(`/forms/${formKey}/submissions/export`)).text).not.toContain('assignee')
  })

  test('go to no stranger, and those of others to nobody', async () => {
    const ws = await server().createWorkspace()
    const [own] = await (await createForm(server(), ws)).store({})
    const other = await createTeam(server())
    const [theirs] = await (await createForm(server(), other)).store({})
    const member = other.member.id
    for (const [ids, assigneeId, status, error] of [
      [[own], member, 422, NO_MEMBER],
      [[own], 999_999_999, 422, NO_MEMBER],
      [[own], 'Max', 422, 'must be a whole number'],
      [[own], 0, 422, 'must be at least 1'],
      [[own, theirs], null, 404, undefined],
    ] as const) {
      const answer = await setStatus(ws, { ids, assigneeId })
      expect([assigneeId, answer.status, answer.json.errors?.assigneeId]).toEqual([assigneeId, status, error])
      if (ids.length > 1) continue
      const one = await ws.patch(`/submissions/${own}`, { assigneeId })
      expect([one.status, one.json.errors.assigneeId]).toEqual([status, error])
    }
    expect((await ws.api('/submissions?assigneeId=me')).json.errors).toEqual({
      assigneeId: 'must be the id of a member, or none',
    })
  })

  test('are deleted together, the large ones too, and say which status they had', async () => {
    const ws = await server().createWorkspace()
    const { store } = await createForm(server(), ws)
    const large: TestSubmission = { fields: [['message', 'x'.repeat(200_000)]], status: 'read' }
    const [a = 0, b = 0, c = 0, d = 0] = await store(large, {}, large, {})
    const { status, json } = await remove(ws, [c, b, a, c])
    expect([status, json.data]).toEqual([
      200,
      [
        { id: c, status: 'read' },
        { id: b, status: 'new' },
        { id: a, status: 'read' },
      ],
    ])
    expect(await statuses(ws)).toEqual({ [d]: 'new' })
  })

  test('stay as they are when one of them does not exist, or is in another workspace', async () => {
    const [ws, other] = [await server().createWorkspace(), await server().createWorkspace()]
    const [own = 0] = await (await createForm(server(), ws)).store({})
    const [theirs = 0] = await (await createForm(server(), other)).store({})
    const errors = { '1.id': 'Submission not found', '2.id': 'Submission not found' }
    const ids = [own, theirs, 999_999]
    for (const answer of [await setStatus(ws, { ids, status: 'spam' }), await remove(ws, ids)])
      expect([answer.status, answer.json]).toEqual([404, { error: 'Submission not found', errors }])
    expect([await statuses(ws), await statuses(other)]).toEqual([{ [own]: 'new' }, { [theirs]: 'new' }])
  })

  test('are 1 to 100, with a status', async () => {
    const ws = await server().createWorkspace()
    const { store } = await createForm(server(), ws)
    const ids = await store(...Array(100).fill({}))
    for (const [body, errors] of [
      [{ ids: [], status: 'read' }, { ids: 'must have at least one id' }],
      [{ ids: [...ids, 1], status: 'read' }, { ids: 'must be at most 100 ids' }],
      [{ ids: [0], status: 'read' }, { 'ids.0': 'must be at least 1' }],
      [{ ids }, { status: 'must be one of new, read, archived, spam, unless assigneeId is given' }],
      [{ ids, status: 'gone' }, { status: 'must be one of new, read, archived, spam' }],
      [{ status: 'read' }, { ids: 'is required' }],
    ] as const) {
      const answer = await setStatus(ws, body)
      expect([answer.status, answer.json.errors]).toEqual([422, errors])
    }
    expect((await remove(ws, [...ids, 1])).status).toBe(422)
    expect((await ws.delete('/submissions/bulk')).json.errors).toEqual({
      ids: 'is required',
    })
    expect((await setStatus(ws, { ids, status: 'read' })).json.data).toHaveLength(100)
    expect((await remove(ws, ids)).json.data).toHaveLength(100)
    expect(await statuses(ws)).toEqual({})
  })
})

onBothEngines('each submission', (server) => {
  test('says the names of its form and its link, also in the list and the export', async () => {
    const [ws, other] = [await server().createWorkspace(), await server().createWorkspace()]
    const link = await ws.createLink({ title: 'Spring sale' })
    const foreign = await other.createLink()
    const { formKey, store } = await createForm(server(), ws, 'Contact us')
    const [linked = 0, plain = 0, wrong = 0] = await store({ link_id: link.id }, {}, { link_id: foreign.id })
    const names = { slug: link.slug, shortUrl: link.shortUrl, title: 'Spring sale' }
    const listed = (await ws.api('/submissions')).json.data
    const exported = (await ws.api(`/forms/${formKey}/submissions/export?format=json`)).json.data
    for (const data of [listed, exported]) {
      const linkById = Object.fromEntries(
        data.map((each: { id: number; link: unknown }) => [each.id, each.link]),
      )
      // A link of another workspace is never named.
      expect(linkById).toEqual({ [linked]: names, [plain]: null, [wrong]: null })
      expect(new Set(data.map((each: { formName: string }) => each.formName))).toEqual(
        new Set(['Contact us']),
      )
    }
    await ws.patch(`/forms/${formKey}`, { name: 'Hello' })
    expect((await ws.api(`/submissions/${linked}`)).json.data).toMatchObject({
      formName: 'Hello',
      link: names,
    })
  })
})
