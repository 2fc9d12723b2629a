// Visitors who try the password of a link do not stop sign-ins: each has a queue of its own.

import { expect, setDefaultTimeout } from 'bun:test'
import { full } from '../support/suite.ts'
import { signUpOverHttp } from '../support/users/sign-up.ts'
import { onSqlite } from '../support/world.ts'

// At most two passwords are hashed at a time, so tests are slow on a busy machine.
setDefaultTimeout(120_000)

onSqlite(
  'sixty strangers at the password page of a link',
  (server) => {
    const strangers = (slug: string, count: number) =>
      Array.from({ length: count }, (_, i) =>
        server().call(`/${slug}`, {
          method: 'POST',
          body: 'password=wrong',
          headers: {
            'Content-Type': 'application/x-www-form-urlencoded',
            'X-Forwarded-For': `203.0.113.${i}`,
          },
        }),
      )

    full('leave every sign-in its answer, in its turn', async () => {
      const ada = await signUpOverHttp(server())
      const link = await ada.api('/links', {
        method: 'POST',
        body: { destinationUrl: 'https://example.com/', slug: 'locked', password: 'open sesame' },
      })
      expect(link.status).toBe(201)
      let openPages = 120
      const pages = strangers('locked', openPages).map((page) =>
        page.then(({ status }) => {
          openPages--
          return status
        }),
      )
      const answers = await Promise.all(
        Array.from({ length: 6 }, async (_, i) => {
          const { status } = await server().call('/api/auth/sign-in/email', {
            method: 'POST',
            body: { email: ada.email, password: ada.password },
            headers: { 'X-Forwarded-For': `198.51.100.${i}` },
          })
          return { status, openPages }
        }),
      )
      expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(200))
      // Sign-ins get every other slot, so they are through long before the pages are.
      expect(answers[0]?.openPages).toBeGreaterThan(0)
      // Fifty may wait, each for ten seconds: how many of them get their turn depends on the machine.
      expect(new Set(await Promise.all(pages))).toEqual(new Set([403, 503]))
    })
  },
  { environment: { TRUST_PROXY: '127.0.0.1' } },
)
