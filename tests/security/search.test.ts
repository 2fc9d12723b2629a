// Hostile searches: SQLite answers them in the process that redirects, so a stranger's words and data must not make one
// slow.

import { expect, test } from 'bun:test'
import { BEHIND_PROXY, nextSenderAddress } from '../support/form-requests.ts'
import { measureProcessorMs } from '../support/processor-time.ts'
import { onSqlite } from '../support/world.ts'

/** A value may have 65,536 characters, and a body 1 MiB. */
const FIELDS = 15
const LENGTH = 60_000
const SUBMISSIONS = 8

onSqlite(
  'a search',
  (server) => {
    test('in long texts of one letter costs at most 30 times a search for a word, whatever it looks for', async () => {
      const workspace = await server().createWorkspace()
      const { json } = await workspace.api('/forms', { method: 'POST', body: { name: 'Contact' } })
      for (let n = 0; n < SUBMISSIONS; n++) {
        const fields = Array.from({ length: FIELDS }, (_, i) => [`f${i}`, 'a'.repeat(LENGTH) + n])
        const body = Object.fromEntries(fields)
        expect(
          (
            await server().call(`/f/${json.data.formKey}`, {
              method: 'POST',
              body,
              headers: { 'X-Forwarded-For': nextSenderAddress() },
            })
          ).text,
        ).toBe('{"ok":true}')
      }
      const measureSearch = async (search: string) => {
        const ask = async () => {
          const answer = await workspace.api(`/submissions?limit=1&search=${search}`)
          expect([answer.status, answer.json.total]).toEqual([200, 0])
        }
        return Math.min(await measureProcessorMs(ask), await measureProcessorMs(ask))
      }
      const word = await measureSearch('invoice')
      const worst = await measureSearch(`${'a'.repeat(199)}b`)
      expect(worst).toBeLessThan(30 * word)
    })
  },
  BEHIND_PROXY,
)
