// Under open sign-up a stranger has no link before their address is proven, because there is no account before that.

import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { startMailServer } from '../support/fake-servers/mail-server.ts'
import { until } from '../support/until.ts'
import { signUpOverHttp, toCookieHeader } from '../support/users/sign-up.ts'
import { onSqlite } from '../support/world.ts'

setDefaultTimeout(120_000)

const mail = await startMailServer()
afterAll(() => mail.stop())

const environment = { SIGNUP: 'open', SMTP_URL: mail.url(), MAIL_FROM: 'towpath@example.com' }

onSqlite(
  'A stranger who signs up',
  (server) => {
    const countRows = async () => {
      const { read } = server().app.db
      const count = async (table: 'users' | 'workspaces' | 'sessions' | 'links') =>
        Number(
          (
            await read
              .selectFrom(table)
              .select((e) => e.fn.countAll().as('n'))
              .executeTakeFirstOrThrow()
          ).n,
        )
      return [await count('users'), await count('workspaces'), await count('sessions'), await count('links')]
    }

    test('gets an account, a session and a link that redirects only with the mailed link', async () => {
      await signUpOverHttp(server()) // the operator
      const before = await countRows()
      const body = { name: 'Eve', email: 'eve@example.com', password: 'seven quiet herons at the lock' }
      const signUp = (more = {}) =>
        server().call('/api/auth/sign-up/email', { method: 'POST', body: { ...body, ...more } })
      const answer = await signUp()
      expect([answer.status, toCookieHeader(answer)]).toEqual([200, ''])
      expect((await signUp({ confirmation: 'guessed-token' })).status).toBe(404)
      expect(await countRows()).toEqual(before)

      const received = await until('the mail', () => mail.mails.find(({ to }) => to.includes(body.email)))
      const confirmation = /token=([\w-]+)/.exec(received.parsed.text ?? '')?.[1]
      const proven = await signUp({ confirmation })
      expect(proven.status).toBe(200)
      const headers = { Cookie: toCookieHeader(proven), 'X-Workspace': String(proven.json.workspaceId) }
      const made = await server().call('/v1/links', {
        method: 'POST',
        body: { destinationUrl: 'https://example.com/' },
        headers,
      })
      expect((await server().click(made.json.data.slug)).status).toBe(302)
    })
  },
  { environment },
)
