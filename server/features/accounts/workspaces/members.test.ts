// The members of a workspace, their rights, and the rule that a workspace has an owner.

import { expect, test } from 'bun:test'
import { atScale } from '../../../../tests/support/suite.ts'
import {
  addToWorkspace,
  createTeam,
  type SignedInUser,
} from '../../../../tests/support/users/signed-in-user.ts'
import { onBothEngines } from '../../../../tests/support/world.ts'

const NEEDS_OWNER = { error: 'A workspace needs an owner' }

const setRole = (who: SignedInUser, id: number, userId: number, role: unknown) =>
  who.in(id).patch(`/members/${userId}`, { role })
const remove = (who: SignedInUser, id: number, userId: number) => who.in(id).delete(`/members/${userId}`)

onBothEngines('members', (server) => {
  const rolesIn = async (who: SignedInUser, id: number) => {
    const { json } = await who.apiIn(id, '/members')
    return Object.fromEntries(
      json.data.map((one: { userId: number; role: string }) => [one.userId, one.role]),
    )
  }

  test('are listed for every member', async () => {
    const { id, owner, member } = await createTeam(server())
    const { json } = await member.apiIn(id, '/members')
    const shown = ({ id: userId, name, email }: SignedInUser, role: string) => {
      return { userId, name, email, role, createdAt: expect.stringMatching(/Z$/) }
    }
    expect(json).toEqual({
      data: [shown(owner, 'owner'), shown(member, 'member')],
      nextCursor: null,
      total: 2,
    })
    const first = (await owner.apiIn(id, '/members?limit=1')).json
    const second = (await owner.apiIn(id, `/members?limit=1&cursor=${first.nextCursor}`)).json
    expect([first.data[0].userId, second.data[0].userId, second.nextCursor]).toEqual([
      owner.id,
      member.id,
      null,
    ])
  })

  test('may work with links and forms, but may not do what is for owners', async () => {
    const { id, owner, member } = await createTeam(server())
    const link = { method: 'POST', body: { destinationUrl: 'https://example.com/' } }
    expect((await member.apiIn(id, '/links', link)).status).toBe(201)
    const invited = (await owner.in(id).post('/invitations', { email: 'i@people.example' })).json.data
    const [key] = (await owner.apiIn(id, '/keys')).json.data
    const asked: [string, string, object?][] = [
      ['PATCH', '/workspace', { name: 'x' }],
      ['DELETE', '/workspace?confirm=Test'],
      ['PATCH', `/members/${member.id}`, { role: 'owner' }],
      ['PATCH', `/members/${owner.id}`, { role: 'member' }],
      ['DELETE', `/members/${owner.id}`],
      ['POST', '/invitations', { email: 'j@people.example', role: 'owner' }],
      ['DELETE', `/invitations/${invited.id}`],
      ['POST', '/keys', { name: 'x' }],
      ['DELETE', `/keys/${key.id}`],
    ]
    for (const [method, path, body] of asked) {
      const { status, json } = await member.apiIn(id, path, { method, body })
      expect([method, path, status, json]).toEqual([method, path, 403, { error: 'You may not do this' }])
    }
    expect(await rolesIn(owner, id)).toEqual({ [owner.id]: 'owner', [member.id]: 'member' })
    expect((await member.apiIn(id, '/invitations')).json.total).toBe(1)
    expect((await member.apiIn(id, '/keys')).json.total).toBe(1)
  })

  test('get a new role with the next request', async () => {
    const { id, owner, member } = await createTeam(server())
    const { status, json } = await setRole(owner, id, member.id, 'owner')
    expect([status, json.data]).toMatchObject([200, { userId: member.id, role: 'owner' }])
    expect((await member.in(id).post('/keys', { name: 'x' })).status).toBe(201)
    await setRole(member, id, owner.id, 'member')
    expect((await owner.in(id).post('/keys', { name: 'y' })).status).toBe(403)
    expect(await rolesIn(owner, id)).toEqual({ [owner.id]: 'member', [member.id]: 'owner' })
    expect((await setRole(member, id, owner.id, undefined)).json.data.role).toBe('member')
    for (const role of ['admin', '', null, 1, 'OWNER']) {
      expect((await setRole(member, id, owner.id, role)).status).toBe(422)
    }
  })

  test('lose access with the next request after removal, and their links stay', async () => {
    const { id, owner, member } = await createTeam(server())
    await addToWorkspace(server(), id, member, 'owner')
    const made = (await member.in(id).post('/keys', { name: 'theirs' })).json.data
    const removed = await remove(owner, id, member.id)
    expect([removed.status, removed.json.data]).toMatchObject([
      200,
      { userId: member.id, email: member.email },
    ])
    expect((await member.apiIn(id, '/links')).json).toEqual({ error: 'Workspace not found' })
    expect((await member.api('/workspaces')).json.total).toBe(0)
    expect((await remove(owner, id, member.id)).json).toEqual({ error: 'Member not found' })
    const headers = { Authorization: `Bearer ${made.key}` }
    expect((await server().call('/v1/links', { headers })).status).toBe(200)
  })

  test('may leave', async () => {
    const { id, owner, member } = await createTeam(server())
    expect((await remove(member, id, member.id)).status).toBe(200)
    expect(await rolesIn(owner, id)).toEqual({ [owner.id]: 'owner' })
  })

  test('who are the last owner can neither leave nor lose the role', async () => {
    const { id, owner, member } = await createTeam(server())
    for (const answer of [await setRole(owner, id, owner.id, 'member'), await remove(owner, id, owner.id)]) {
      expect([answer.status, answer.json]).toEqual([409, NEEDS_OWNER])
    }
    expect(await rolesIn(owner, id)).toEqual({ [owner.id]: 'owner', [member.id]: 'member' })
    await setRole(owner, id, member.id, 'owner')
    expect((await remove(owner, id, owner.id)).status).toBe(200)
    expect((await remove(member, id, member.id)).json).toEqual(NEEDS_OWNER)
  })
})

onBothEngines.quick('the last two owners', (server) => {
  test('keep one owner when two owners leave at the same moment', async () => {
    const demote = (who: SignedInUser, id: number) => setRole(who, id, who.id, 'member')
    const leave = (who: SignedInUser, id: number) => remove(who, id, who.id)
    const ways = [
      [demote, demote],
      [leave, leave],
      [demote, leave],
    ] as const
    const rounds = Array.from({ length: atScale({ quick: 1, full: 3, soak: 3 }) }, () => ways).flat()
    for (const [one, other] of rounds) {
      const { id, owner, member } = await createTeam(server())
      await addToWorkspace(server(), id, member, 'owner')
      const answers = await Promise.all([one(owner, id), other(member, id)])
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
    }
  })
})
