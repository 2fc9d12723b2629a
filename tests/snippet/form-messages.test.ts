// The snippet shows from a page's address only the `messages` of the form info: every message that the form endpoint writes
// there must be one of them, in each language.

import { expect, test } from 'bun:test'
import {
  BEHIND_PROXY,
  createTestForm,
  MULTIPART_TYPE,
  NAVIGATION_HEADERS,
  nextSenderAddress,
  type TestFormSettings,
  toMultipart,
} from '../support/form-requests.ts'
import { onSqlite } from '../support/world.ts'

type Part = Parameters<typeof toMultipart>[0][number]

const FILE = { name: 'cv', value: 'xxx', file: 'cv.pdf' }
const RULES: TestFormSettings['rules'] = {
  short: { minLength: 3 },
  long: { maxLength: 1 },
  code: { pattern: '[0-9]+' },
  size: { oneOf: ['S'] },
  web: { type: 'url' },
  day: { type: 'date' },
  n: { type: 'number' },
  phone: { type: 'tel' },
}
const OWN = { tlh: { required: 'yIghItlh', 'code.pattern': 'mI’ neH' } }

const CASES: [string, TestFormSettings, Part[]][] = [
  ['fields', { requiredFields: ['name'] }, [{ name: 'email', value: 'no' }, FILE]],
  ['rules', { rules: RULES, messages: OWN }, Object.keys(RULES).map((name) => ({ name, value: 'xx' }))],
  ['own texts', { requiredFields: ['name'], messages: OWN }, []],
  ['consent', { requiredFields: ['news'], consent: { field: 'news', text: 'Send me news' } }, []],
  ['large files', { uploads: { maxFiles: 5, maxBytes: 2, accept: [] } }, [FILE]],
  ['many files', { uploads: { maxFiles: 1, maxBytes: 9, accept: [] } }, [FILE, FILE]],
  ['types of files', { uploads: { maxFiles: 1, maxBytes: 9, accept: ['image/*'] } }, [FILE]],
  ['no captcha', { captcha: true }, []],
  ['a wrong captcha', { captcha: true }, [{ name: 'cf-turnstile-response', value: 'x' }]],
]

onSqlite(
  'the form info has every message that the endpoint writes into the address of a page, about',
  (server) => {
    test.each(CASES)('%s', async (_, settings, parts) => {
      const { key } = await createTestForm(server(), settings)
      for (const language of ['en', 'de', 'tlh']) {
        const answer = await server().call(`/f/${key}`, {
          method: 'POST',
          body: toMultipart([{ name: '_lang', value: language }, ...parts]),
          headers: {
            ...NAVIGATION_HEADERS,
            'Content-Type': MULTIPART_TYPE,
            Referer: 'https://site.example/',
            'X-Forwarded-For': nextSenderAddress(),
          },
        })
        expect(answer.status).toBe(303)
        const target = new URL(answer.headers.get('location') ?? '')
        const texts = Object.values(JSON.parse(target.searchParams.get('_errors') ?? ''))
        const { json } = await server().call(`/e/forms?keys=${key}&lang=${language}`)
        expect(json.forms[key].messages).toEqual(expect.arrayContaining(texts))
        expect(texts).not.toEqual([])
      }
    })
  },
  BEHIND_PROXY,
)
