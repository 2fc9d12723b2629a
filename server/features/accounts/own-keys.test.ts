// Settings > API Keys: what owners make and revoke there opens and closes the API at once.

import { expect, test } from 'bun:test'
import { letIn, type TestPerson, team } from '../../../tests/support/people.ts'
import { onBothEngines } from '../../../tests/support/server.ts'

onBothEngines('the keys of a workspace', (server) => {
  const make = async (who: TestPerson, id: number, name = 'New') =>
    (await who.askIn(id, '/keys', { method: 'POST', body: { name } })).json.data
  const revoke = (who: TestPerson, id: number, key: number | string) =>
    who.askIn(id, `/keys/${key}`, { method: 'DELETE' })
  const asked = (key: string) => server().call('/v1/links', { headers: { Authorization: `Bearer ${key}` } })

  test('work from the moment they are made, and are shown once', async () => {
    const { id, owner, member } = await team(server())
    const { status, json } = await owner.askIn(id, '/keys', { method: 'POST', body: { name: ' Build ' } })
    const { key, ...shown } = json.data
    expect([status, shown]).toEqual([
      201,
      {
        id: expect.any(Number),
        name: 'Build',
        lastFour: key.slice(-4),
        createdAt: expect.stringMatching(/Z$/),
        lastUsedAt: null,
      },
    ])
    expect(key).toMatch(/^tp_[0-9A-Za-z]{36}$/)
    expect((await asked(key)).status).toBe(200)
    const listed = await member.askIn(id, '/keys')
    expect(listed.json.data[0]).toMatchObject({ id: shown.id, name: 'Build', lastFour: shown.lastFour })
    expect(listed.json.total).toBe(2)
    expect(listed.text).not.toContain(key)
    const stored = await server().app.rows.read.selectFrom('api_keys').selectAll().execute()
    expect(JSON.stringify(stored)).not.toContain(key)
  })

  test('are refused on the very next request once revoked', async () => {
    const { id, owner, api } = await team(server())
    const { id: keyId, key } = await make(owner, id)
    expect((await asked(key)).status).toBe(200)
    const revoked = await revoke(owner, id, keyId)
    expect([revoked.status, revoked.json.data.id]).toEqual([200, keyId])
    expect(revoked.text).not.toContain(key)
    const refused = await asked(key)
    expect([refused.status, refused.json]).toEqual([401, { error: 'Invalid API key' }])
    expect((await revoke(owner, id, keyId)).json).toEqual({ error: 'API key not found' })
    expect((await owner.askIn(id, '/keys')).json.total).toBe(1)
    expect((await api('/workspace')).json.data.keys).toBe(1)
  })

  test('of another workspace are none of ours', async () => {
    const { id, owner } = await team(server())
    const other = await team(server())
    const theirs = await make(other.owner, other.id)
    for (const key of [theirs.id, 999_999_999, 0, 'x']) {
      const { status, json } = await revoke(owner, id, key)
      expect([status, json]).toEqual([404, { error: 'API key not found' }])
    }
    expect((await asked(theirs.key)).status).toBe(200)
    // Of two workspaces one is asked for: in the other one too, the key is not this one's.
    await letIn(server(), other.id, owner, 'owner')
    expect((await revoke(owner, id, theirs.id)).status).toBe(404)
    expect((await revoke(owner, other.id, theirs.id)).status).toBe(200)
  })

  test('come newest first, a page at a time', async () => {
    const { id, owner } = await team(server())
    for (const name of ['a', 'b']) await make(owner, id, name)
    const first = (await owner.askIn(id, '/keys?limit=2')).json
    const rest = (await owner.askIn(id, `/keys?limit=2&cursor=${first.nextCursor}`)).json
    const names = [...first.data, ...rest.data].map(({ name }: { name: string }) => name)
    expect([names, first.total, rest.nextCursor]).toEqual([['b', 'a', 'test'], 3, null])
    expect((await owner.askIn(id, '/keys?cursor=x')).status).toBe(422)
  })

  test('need a name', async () => {
    const { id, owner } = await team(server())
    for (const name of ['', '  ', null, 5, 'x'.repeat(101), undefined]) {
      const { status } = await owner.askIn(id, '/keys', { method: 'POST', body: { name } })
      expect([name, status]).toEqual([name, 422])
    }
    expect((await owner.askIn(id, '/keys')).json.total).toBe(1)
  })
})
