// The snippet shows from a page's address only the messages that it knows: it must know every message that the form
// endpoint writes there.

import { expect, test } from 'bun:test'
import { KNOWN_MESSAGES } from '../../snippet/known-messages.ts'
import {
  BEHIND_PROXY,
  createTestForm,
  MULTIPART_TYPE,
  NAVIGATION_HEADERS,
  nextSenderAddress,
  toMultipart,
} from '../support/form-requests.ts'
import { onSqlite } from '../support/server/test-server.ts'

onSqlite(
  'the snippet',
  (server) => {
    test('knows every message that the form endpoint writes into the address of a page', async () => {
      const told = new Set<string>()
      const send = async (settings: object, body: string, headers: Record<string, string>) => {
        const { key } = await createTestForm(server(), settings)
        const answer = await server().call(`/f/${key}`, {
          method: 'POST',
          body,
          headers: {
            ...NAVIGATION_HEADERS,
            Referer: 'https://site.example/',
            'X-Forwarded-For': nextSenderAddress(),
            ...headers,
          },
        })
        expect(answer.status).toBe(303)
        const target = new URL(answer.headers.get('location') ?? '')
        for (const text of Object.values(JSON.parse(target.searchParams.get('_errors') ?? '')))
          told.add(String(text))
      }
      const form = [
        { name: 'email', value: 'no' },
        { name: 'cv', value: 'x', file: 'cv.pdf' },
      ]
      await send({ requiredFields: ['name'] }, toMultipart(form), { 'Content-Type': MULTIPART_TYPE })
      for (const token of [[], [{ name: 'cf-turnstile-response', value: 'x' }]])
        await send({ captcha: true }, toMultipart([{ name: 'a', value: '1' }, ...token]), {
          'Content-Type': MULTIPART_TYPE,
        })
      // JSON is never sent by a browser alone, so its message ("Must be a string") never stands in an address.
      expect(told.size).toBe(5)
      expect(KNOWN_MESSAGES).toEqual(expect.arrayContaining([...told]))
    })
  },
  BEHIND_PROXY,
)
