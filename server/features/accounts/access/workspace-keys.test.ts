// API keys that owners create and revoke over REST.

import { expect, test } from 'bun:test'
import { createTeam, type SignedInUser } from '../../../../tests/support/users/signed-in-user.ts'
import { onBothEngines } from '../../../../tests/support/world.ts'

onBothEngines('the keys of a workspace', (server) => {
  const make = async (who: SignedInUser, id: number, name = 'New') =>
    (await who.in(id).post('/keys', { name })).json.data
  const revoke = (who: SignedInUser, id: number, key: number | string) => who.in(id).delete(`/keys/${key}`)
  const asked = (key: string) => server().call('/v1/links', { headers: { Authorization: `Bearer ${key}` } })

  test('work at once after creation, and are shown once', async () => {
    const { id, owner, member } = await createTeam(server())
    const { status, json } = await owner.in(id).post('/keys', { name: ' Build ' })
    const { key, ...shown } = json.data
    expect([status, shown]).toEqual([
      201,
      {
        id: expect.any(Number),
        name: 'Build',
        lastFour: key.slice(-4),
        scopes: ['*'],
        expiresAt: null,
        createdAt: expect.stringMatching(/Z$/),
        lastUsedAt: null,
      },
    ])
    expect(key).toMatch(/^tp_[0-9A-Za-z]{36}$/)
    expect((await asked(key)).status).toBe(200)
    const listed = await member.apiIn(id, '/keys')
    expect(listed.json.data[0]).toMatchObject({ id: shown.id, name: 'Build', lastFour: shown.lastFour })
    expect(listed.json.total).toBe(2)
    expect(listed.text).not.toContain(key)
    const stored = await server().rows('api_keys')
    expect(JSON.stringify(stored)).not.toContain(key)
  })

  test('are refused on the next request after they were revoked', async () => {
    const { id, owner, api } = await createTeam(server())
    const { id: keyId, key } = await make(owner, id)
    expect((await asked(key)).status).toBe(200)
    const revoked = await revoke(owner, id, keyId)
    expect([revoked.status, revoked.json.data.id]).toEqual([200, keyId])
    expect(revoked.text).not.toContain(key)
    const refused = await asked(key)
    expect([refused.status, refused.json]).toEqual([401, { error: 'Invalid API key' }])
    expect((await revoke(owner, id, keyId)).json).toEqual({ error: 'API key not found' })
    expect((await owner.apiIn(id, '/keys')).json.total).toBe(1)
    expect((await api('/workspace')).json.data.keys).toBe(1)
  })

  test('are listed newest first, a page at a time', async () => {
    const { id, owner } = await createTeam(server())
    for (const name of ['a', 'b']) await make(owner, id, name)
    const first = (await owner.apiIn(id, '/keys?limit=2')).json
    const rest = (await owner.apiIn(id, `/keys?limit=2&cursor=${first.nextCursor}`)).json
    const names = [...first.data, ...rest.data].map(({ name }: { name: string }) => name)
    expect([names, first.total, rest.nextCursor]).toEqual([['b', 'a', 'test'], 3, null])
    expect((await owner.apiIn(id, '/keys?cursor=x')).status).toBe(422)
  })

  test('require a name', async () => {
    const { id, owner } = await createTeam(server())
    for (const name of ['', '  ', null, 5, 'x'.repeat(101), undefined]) {
      const { status } = await owner.in(id).post('/keys', { name })
      expect([name, status]).toEqual([name, 422])
    }
    expect((await owner.apiIn(id, '/keys')).json.total).toBe(1)
  })
})
