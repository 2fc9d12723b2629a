// Invitations: who may create them, and that a link works once, for seven days and for its address.

import { expect, test } from 'bun:test'
import {
  addToWorkspace,
  createSignedInUser,
  createTeam,
  type SignedInUser,
} from '../../../../tests/support/users/signed-in-user.ts'
import { onBothEngines } from '../../../../tests/support/world.ts'
import type { Tables } from '../../../storage/database/tables.ts'
import { pruneInvitations } from './invitations.ts'

const DAY = 24 * 60 * 60 * 1000
const NOT_FOUND = { error: 'Invitation not found' }

let now = Date.UTC(2026, 4, 1)

onBothEngines(
  'invitations',
  (server) => {
    const somebody = (named: string) => createSignedInUser(server(), named, now)
    const invite = (who: SignedInUser, id: number, email: string, role?: string) =>
      who.in(id).post('/invitations', { email, role })
    /** @returns the invitation and the token of its link */
    const invited = async (who: SignedInUser, id: number, email: string, role?: string) => {
      const { json } = await invite(who, id, email, role)
      return { ...json.data, token: new URL(json.data.url).searchParams.get('token') as string }
    }
    const accept = (who: SignedInUser, token: unknown) => who.post('/invitations/accept', { token })
    const withdraw = (who: SignedInUser, id: number, invitation: number) =>
      who.in(id).delete(`/invitations/${invitation}`)
    const members = async (who: SignedInUser, id: number) => (await who.apiIn(id, '/members')).json.total
    const open = async (who: SignedInUser, id: number) => (await who.apiIn(id, '/invitations')).json

    test('make the invited person a member with the invited role', async () => {
      const { id, owner, member } = await createTeam(server(), now)
      const ann = await somebody('Ann')
      const { status, json } = await invite(owner, id, ` ${ann.email.toUpperCase()} `, 'owner')
      expect(status).toBe(201)
      const { url, mailed, ...invitation } = json.data
      expect(invitation).toEqual({
        id: expect.any(Number),
        email: ann.email,
        role: 'owner',
        createdAt: new Date(now).toISOString(),
        expiresAt: new Date(now + 7 * DAY).toISOString(),
        invitedBy: { userId: owner.id, name: 'Olga' },
      })
      // Without mail the answer contains the link.
      expect(mailed).toBe(false)
      expect(url).toMatch(new RegExp(`^${server().origin}/app/join\\?token=[\\w-]{43}$`))
      expect(await open(member, id)).toEqual({ data: [invitation], nextCursor: null, total: 1 })

      const joined = await accept(ann, new URL(url).searchParams.get('token'))
      expect([joined.status, joined.json.data]).toMatchObject([200, { id, role: 'owner', members: 3 }])
      expect((await ann.api('/workspaces')).json.data[0]).toMatchObject({ id, role: 'owner' })
      expect((await ann.in(id).post('/keys', { name: 'x' })).status).toBe(201)
      expect((await open(owner, id)).total).toBe(0)
    })

    test('make a member when no role is given', async () => {
      const { id, owner } = await createTeam(server(), now)
      const ann = await somebody('Ann')
      const { token, role } = await invited(owner, id, ann.email)
      expect(role).toBe('member')
      expect((await accept(ann, token)).json.data.role).toBe('member')
    })

    test('are stored as a hash, which cannot be used', async () => {
      const { id, owner } = await createTeam(server(), now)
      const { token } = await invited(owner, id, 'hash@people.example')
      const connection = server().app.db.read
      for (const { name } of await connection.introspection.getTables()) {
        const rows = await connection
          .selectFrom(name as keyof Tables)
          .selectAll()
          .execute()
        expect([name, JSON.stringify(rows).includes(token)]).toEqual([name, false])
      }
      expect((await owner.apiIn(id, '/invitations')).text).not.toContain(token)
    })

    test('work once, also for parallel requests', async () => {
      const { id, owner } = await createTeam(server(), now)
      const ann = await somebody('Ann')
      const { token } = await invited(owner, id, ann.email)
      const answers = await Promise.all([accept(ann, token), accept(ann, token), accept(ann, token)])
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404])
      expect((await accept(ann, token)).json).toEqual(NOT_FOUND)
      await owner.in(id).delete(`/members/${ann.id}`)
      expect((await accept(ann, token)).status).toBe(404)
      expect(await members(owner, id)).toBe(2)
    })

    test('work for their address only, and stay open when another person tries', async () => {
      const { id, owner } = await createTeam(server(), now)
      const [ann, eve] = [await somebody('Ann'), await somebody('Eve')]
      const { token } = await invited(owner, id, ann.email)
      const refused = await accept(eve, token)
      expect(refused.status).toBe(403)
      expect(refused.text).not.toContain(ann.email)
      expect(await members(owner, id)).toBe(2)
      expect((await accept(ann, token)).status).toBe(200)
    })

    test('expire after seven days', async () => {
      const { id, owner } = await createTeam(server(), now)
      const ann = await somebody('Ann')
      const { token } = await invited(owner, id, ann.email)
      const made = now
      try {
        now = made + 7 * DAY
        expect((await accept(ann, token)).json).toEqual(NOT_FOUND)
        // The list still has it, so that the owner sees that nobody accepted it.
        expect((await open(owner, id)).total).toBe(1)
        now = made + 7 * DAY - 1
        expect((await accept(ann, token)).status).toBe(200)
      } finally {
        now = made
      }
    })

    test('stop working when revoked, or replaced by a newer invitation', async () => {
      const { id, owner } = await createTeam(server(), now)
      const ann = await somebody('Ann')
      const first = await invited(owner, id, ann.email, 'owner')
      const second = await invited(owner, id, ann.email)
      expect((await open(owner, id)).data.map((one: { id: number }) => one.id)).toEqual([second.id])
      expect((await accept(ann, first.token)).json).toEqual(NOT_FOUND)
      const taken = await withdraw(owner, id, second.id)
      expect([taken.status, taken.json.data]).toMatchObject([200, { id: second.id, email: ann.email }])
      expect((await withdraw(owner, id, second.id)).json).toEqual(NOT_FOUND)
      expect((await accept(ann, second.token)).json).toEqual(NOT_FOUND)
      expect(await members(owner, id)).toBe(2)
    })

    test('that do not exist are all answered with the same 404', async () => {
      const ann = await somebody('Ann')
      for (const token of ['x', 'x'.repeat(43), '%00', "' or 1=1"]) {
        expect((await accept(ann, token)).json).toEqual(NOT_FOUND)
      }
      for (const token of ['', null, 5, undefined, 'x'.repeat(101)]) {
        expect((await accept(ann, token)).status).toBe(422)
      }
    })

    test('are refused for existing members', async () => {
      const { id, owner, member } = await createTeam(server(), now)
      const { status, json } = await invite(owner, id, member.email.toUpperCase())
      expect([status, json]).toEqual([409, { error: 'Already a member of this workspace' }])
      const ann = await somebody('Ann')
      const { token } = await invited(owner, id, ann.email, 'member')
      await addToWorkspace(server(), id, ann, 'owner')
      // The person became an owner meanwhile. Accepting the invitation keeps that role.
      expect((await accept(ann, token)).json.data.role).toBe('owner')
    })

    test.each(['', 'ann', 'ann@localhost', 'a b@example.com', null, 5, `${'a'.repeat(250)}@example.com`])(
      'take no %p for an address',
      async (email) => {
        const { id, owner } = await createTeam(server(), now)
        const { status, json } = await invite(owner, id, email as string)
        expect([status, Object.keys(json.errors)]).toEqual([422, ['email']])
        expect((await open(owner, id)).total).toBe(0)
      },
    )

    test('are listed newest first, a page at a time', async () => {
      const { id, owner } = await createTeam(server(), now)
      for (const name of ['a', 'b', 'c']) await invite(owner, id, `${name}@people.example`)
      const first = (await owner.apiIn(id, '/invitations?limit=2')).json
      const rest = (await owner.apiIn(id, `/invitations?limit=2&cursor=${first.nextCursor}`)).json
      const emails = [...first.data, ...rest.data].map(({ email }: { email: string }) => email[0])
      expect([emails.join(''), first.total, rest.nextCursor]).toEqual(['cba', 3, null])
    })

    test('take no Idempotency-Key, because their links are stored nowhere', async () => {
      const { id, owner } = await createTeam(server(), now)
      const headers = { 'Idempotency-Key': 'a' }
      for (const [path, body] of [
        ['/invitations', { email: 'a@people.example' }],
        ['/keys', { name: 'x' }],
        ['/workspaces', { name: 'x' }],
        ['/invitations/accept', { token: 'x' }],
      ] as const) {
        const { status, json } = await owner.in(id).post(path, body, headers)
        expect([path, status, Object.keys(json.errors ?? {})]).toEqual([path, 422, ['Idempotency-Key']])
      }
      expect((await open(owner, id)).total).toBe(0)
      expect((await owner.api('/workspaces')).json.total).toBe(1)
    })

    test('are pruned after acceptance, or 30 days after they expired', async () => {
      const { id, owner } = await createTeam(server(), now)
      const ann = await somebody('Ann')
      await accept(ann, (await invited(owner, id, ann.email)).token)
      await invite(owner, id, 'open@people.example')
      const kept = async () => {
        const rows = await server().rows('invitations', { workspace_id: id })
        return rows.map(({ email }) => email)
      }
      await pruneInvitations(server().app.db, now)
      expect(await kept()).toEqual(['open@people.example'])
      await pruneInvitations(server().app.db, now + 37 * DAY + 1)
      expect(await kept()).toEqual([])
    })
  },
  { now: () => now },
)
