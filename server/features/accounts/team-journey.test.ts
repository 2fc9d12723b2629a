// A journey through the API: a person signs up and invites another, who signs up by the link and sees the work.

import { expect, test } from 'bun:test'
import { signUpOverHttp } from '../../../tests/support/users/sign-up.ts'
import { onBothEngines } from '../../../tests/support/world.ts'
import { useCheapHashes } from '../../lib/crypto/cheap-hashes.fixture.ts'
import { createResetLink } from './auth/reset-password.ts'
import { createUser } from './workspaces/create-user.ts'

useCheapHashes()

onBothEngines.quick('a team', (server) => {
  test('grows by invitation, and refuses everybody else', async () => {
    const ada = await signUpOverHttp(server(), { name: 'Ada', email: 'ada@boats.example' })
    const link = { method: 'POST', body: { destinationUrl: 'https://example.com/boats' } }
    const made = (await ada.api('/links', link)).json.data
    const stranger = { name: 'Eve', email: 'eve@boats.example', password: 'a very long password' }
    const refused = await server().post('/api/auth/sign-up/email', stranger)
    expect(refused.status).toBe(403)

    const email = 'Bob@boats.example'
    const invited = await ada.post('/invitations', { email, role: 'member' })
    const invitation = new URL(invited.json.data.url).searchParams.get('token') as string
    const shown = await server().call(`/api/auth/invitation?token=${invitation}`)
    expect(shown.json).toMatchObject({ email: email.toLowerCase() })
    const wrong = await server().post('/api/auth/sign-up/email', { ...stranger, invitation })
    expect(wrong.status).toBe(403)

    const bob = await signUpOverHttp(server(), { name: 'Bob', email, invitation })
    expect(bob.workspaceId).toBe(ada.workspaceId)
    expect((await bob.api(`/links/${made.id}`)).status).toBe(200)
    expect((await bob.post('/keys', { name: 'x' })).status).toBe(403)
    expect((await server().call(`/api/auth/invitation?token=${invitation}`)).status).toBe(404)
    const members = (await ada.api('/members')).json.data
    expect(members.map(({ name, role }: { name: string; role: string }) => [name, role])).toEqual([
      ['Ada', 'owner'],
      ['Bob', 'member'],
    ])
    expect((await ada.api('/invitations')).json.total).toBe(0)
  })

  test('created on the command line signs in by the printed link', async () => {
    const { id } = await server().createWorkspace()
    const needs = { db: server().app.db, now: server().now, origin: server().origin }
    const user = await createUser(needs, { email: 'cy@boats.example', joins: { workspaceId: id } })
    const url = new URL(await createResetLink(needs, user.id))
    const password = 'a very long password'
    const reset = await server().post('/api/auth/reset-password', {
      token: url.searchParams.get('token'),
      newPassword: password,
    })
    expect(reset.status).toBe(200)
    const signedIn = await server().post('/api/auth/sign-in/email', { email: 'cy@boats.example', password })
    expect(signedIn.status).toBe(200)
    const Cookie = signedIn.headers.get('set-cookie')?.split(';')[0] as string
    const workspaces = await server().call('/v1/workspaces', { headers: { Cookie } })
    expect(workspaces.json.data).toMatchObject([{ id, role: 'owner' }])
  })
})
