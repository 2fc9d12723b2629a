// Random bodies: the endpoint answers each one quickly, and never with 5xx.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  BEHIND_PROXY,
  createTestForm,
  JSON_TYPE,
  MULTIPART_TYPE,
  nextSenderAddress,
  SCRIPT_HEADERS,
  toMultipart,
  URLENCODED_TYPE,
} from '../../../../tests/support/form-requests.ts'
import { measureProcessorMs } from '../../../../tests/support/processor-time.ts'
import { atScale } from '../../../../tests/support/suite.ts'
import { onBothEngines } from '../../../../tests/support/world.ts'

// The database gets only what the parsers let through, so PostgreSQL needs fewer runs.
const BODIES = {
  sqlite: atScale({ quick: 150, full: 1_000, soak: 10_000 }),
  postgres: atScale({ full: 200, soak: 2_000 }),
}
const AT_ONCE = 20
/** Processor time. It is far above what any body takes, and far below what quadratic work on a body would take. */
const LONGEST_MS = 1_000
/** The average processor time of a body. One slow body in a hundred would raise it above this. */
const AVERAGE_MS = 10

const text = fc.string({ unit: 'binary', maxLength: 12 })
const fields = fc.array(fc.record({ name: text, value: text }), { maxLength: 6 })

const HONEST: Record<string, fc.Arbitrary<string>> = {
  [URLENCODED_TYPE]: fields.map((some) =>
    some.map(({ name, value }) => `${name}=${encodeURIComponent(value.toWellFormed())}`).join('&'),
  ),
  [JSON_TYPE]: fc.oneof(
    fc.json(),
    fields.map((some) => JSON.stringify(Object.fromEntries(some.map(({ name, value }) => [name, value])))),
  ),
  [MULTIPART_TYPE]: fields.map(toMultipart),
}

/** Pieces that have a meaning for one of the parsers. */
const PIECE = fc.constantFrom(
  '\0',
  '\r\n',
  '--Bd',
  '--Bd--',
  '\r\n\r\n',
  '"',
  '\\',
  '{',
  '[',
  ']',
  '}',
  ',',
  ':',
  '&',
  '=',
  '%',
  '%00',
  '+',
  '\\u0000',
  '\\ud800',
  'null',
  '1e999',
  '; name="',
  'filename=',
  '\xff',
  '__proto__',
  '_gotcha',
  'email',
)

/** Removes some characters of a body and inserts pieces. */
const broken = (honest: fc.Arbitrary<string>) =>
  fc.tuple(honest, fc.array(fc.tuple(fc.nat(200), fc.nat(8), PIECE), { maxLength: 4 })).map(([body, edits]) =>
    edits.reduce((now, [at, length, piece]) => {
      const place = now.length === 0 ? 0 : at % now.length
      return now.slice(0, place) + piece + now.slice(place + length)
    }, body),
  )

const bytes = fc.uint8Array({ maxLength: 200 })

onBothEngines(
  'random bodies',
  (server, engine) => {
    test.each([URLENCODED_TYPE, JSON_TYPE, MULTIPART_TYPE])(
      'of %s get an answer, and so does the next sender',
      async (type) => {
        const form = await createTestForm(server(), { requiredFields: ['toString'] })
        const open = await createTestForm(server())
        const honest = HONEST[type] as fc.Arbitrary<string>
        const latin = broken(honest).map((body) => Buffer.from(body, 'latin1'))
        const utf8 = broken(honest).map((body) => Buffer.from(body))
        const bodies = fc.sample(fc.oneof(bytes, latin, utf8), { numRuns: BODIES[engine] })
        let next = 0
        async function sender() {
          for (let body = bodies[next++]; body; body = bodies[next++]) {
            const headers = {
              'Content-Type': type,
              'X-Forwarded-For': nextSenderAddress(),
              ...SCRIPT_HEADERS,
            }
            const { key } = next % 4 === 0 ? form : open
            const answer = await fetch(`${server().origin}/f/${key}`, {
              method: 'POST',
              headers,
              body: body as Uint8Array<ArrayBuffer>,
            })
            const said = await answer.text()
            const known = [200, 400, 413, 422].includes(answer.status)
            if (!known)
              expect({ body: Buffer.from(body).toString('latin1'), status: answer.status, said }).toEqual(
                {} as never,
              )
          }
        }
        const spent = await measureProcessorMs(() => Promise.all(Array.from({ length: AT_ONCE }, sender)))
        expect(spent / bodies.length).toBeLessThan(AVERAGE_MS)
        expect((await open.fetch('a=1')).text).toBe('{"ok":true}')
      },
      120_000,
    )

    // The others are read, or refused, before any database.
    if (engine === 'postgres') return
    test.each<[string, string, string]>([
      ['nothing but ampersands', URLENCODED_TYPE, '&'.repeat(1024 * 1024 - 1)],
      ['half a million equal names', URLENCODED_TYPE, 'a&'.repeat(500_000)],
      ['a million escapes', URLENCODED_TYPE, `a=${'%'.repeat(60_000)}`],
      ['nothing but boundaries', MULTIPART_TYPE, '\r\n--Bd'.repeat(170_000)],
      ['parts of nothing', MULTIPART_TYPE, `${'--Bd\r\n\r\n\r\n'.repeat(90_000)}--Bd--`],
      [
        'small parts',
        MULTIPART_TYPE,
        toMultipart(Array.from({ length: 15_000 }, () => ({ name: 'a', value: '' }))),
      ],
      [
        'one endless header',
        MULTIPART_TYPE,
        `--Bd\r\nContent-Disposition: form-data; name="${'a'.repeat(1_000_000)}`,
      ],
      ['brackets', JSON_TYPE, `{"a":${'['.repeat(500_000)}${']'.repeat(500_000)}}`],
      ['braces', JSON_TYPE, '{"a":'.repeat(200_000)],
      ['many members', JSON_TYPE, `{${Array.from({ length: 100_000 }, (_, i) => `"${i}":1`).join()}}`],
      ['a long list', JSON_TYPE, `{"a":[${'1,'.repeat(500_000)}1]}`],
      ['a long string of backslashes', JSON_TYPE, `{"a":"${'\\\\'.repeat(30_000)}"}`],
      ['an address without end', JSON_TYPE, `{"email":"${'a-'.repeat(30_000)}@${'a-'.repeat(2_000)}"}`],
    ])('%s as %s take no longer than ordinary bodies', async (_, type, body) => {
      const form = await createTestForm(server())
      const spent = await measureProcessorMs(async () => {
        const answer = await form.post(type, body, SCRIPT_HEADERS)
        expect([200, 400, 413, 422]).toContain(answer.status)
      })
      expect(spent).toBeLessThan(LONGEST_MS)
    })
  },
  BEHIND_PROXY,
)
