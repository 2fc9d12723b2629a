// A second, plain implementation of the rules of a form. For thousands of random requests the server must answer and
// store what this model says.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  BEHIND_PROXY,
  createTestForm,
  JSON_TYPE,
  MULTIPART_TYPE,
  type TestForm,
  type TestFormSettings,
  toMultipart,
  URLENCODED_TYPE,
} from '../../../../tests/support/form-requests.ts'
import { atScale } from '../../../../tests/support/suite.ts'
import { onBothEngines } from '../../../../tests/support/world.ts'

const REQUESTS = atScale({ quick: 200, full: 1_500, soak: 5_000 })
const AT_ONCE = 20

const FORMS: TestFormSettings[] = [
  {},
  { requiredFields: ['name'] },
  { requiredFields: ['email', 'toString', '10'] },
  { redirectUrl: 'https://done.example/' },
  { captcha: true, requiredFields: ['name'] },
  { captcha: true },
  { enabled: false },
  { allowedOrigins: ['https://site.example'], requiredFields: ['a'] },
]

interface Entry {
  name: string
  value: string
  kind: 'text' | 'file' | 'no file' | 'nested' | 'null'
}

interface Case {
  form: number
  type: string
  entries: Entry[]
  mode: string | undefined
  accept: string
  referer: string | undefined
  origin: string | undefined
}

// A value that stands here several times is chosen more often.
const NAMES = [
  'name',
  'name',
  'name',
  'email',
  'email',
  'a',
  'a',
  '10',
  '2',
  'toString',
  'o[]',
  '',
  '_x',
  '_next',
  '_next',
  '_gotcha',
  '_turnstile',
  'cf-turnstile-response',
]
const VALUES = [
  '',
  ' ',
  'x',
  'x',
  'Ada',
  'a@b.co',
  'a@b.co',
  ' a@b.co ',
  'a@b',
  'ü\r\n"&=+%41',
  'https://n.example/ok',
  '/rel',
  '//h.example/p',
  'javascript:1',
  'https://u:p@n.example/',
]
const REFERERS = [
  undefined,
  'https://site.example/page',
  'https://site.example/page',
  'https://site.example/page?_errors=%7B%7D&a=1',
  'https://site.example/',
  'android-app://mail/',
  'https://u:p@site.example/',
]

const entry: fc.Arbitrary<Entry> = fc.record({
  name: fc.constantFrom(...NAMES),
  value: fc.constantFrom(...VALUES),
  kind: fc.oneof(
    { weight: 12, arbitrary: fc.constant('text' as const) },
    { weight: 1, arbitrary: fc.constantFrom('file', 'no file', 'nested', 'null') },
  ),
})

const request: fc.Arbitrary<Case> = fc
  .record({
    form: fc.nat(FORMS.length - 1),
    type: fc.constantFrom(
      URLENCODED_TYPE,
      URLENCODED_TYPE,
      MULTIPART_TYPE,
      MULTIPART_TYPE,
      JSON_TYPE,
      JSON_TYPE,
      'text/plain',
    ),
    entries: fc.array(entry, { maxLength: 7 }),
    mode: fc.constantFrom(undefined, 'cors', 'same-origin', 'navigate', 'no-cors'),
    accept: fc.constantFrom('*/*', 'text/html,*/*;q=0.8', 'application/json', 'text/html, application/json'),
    referer: fc.constantFrom(...REFERERS),
    origin: fc.constantFrom(undefined, 'null', 'https://site.example', 'https://other.example'),
  })
  .map((one) => ({ ...one, entries: one.entries.map((each) => sendable(one.type, each)) }))

/** Where a content type cannot express a value, the value is text. The honeypot is empty in most requests. */
function sendable(type: string, { name, value, kind }: Entry): Entry {
  const can = type === MULTIPART_TYPE ? ['file', 'no file'] : type === JSON_TYPE ? ['nested', 'null'] : []
  return {
    name,
    value: name === '_gotcha' && value.length < 10 ? '' : value,
    kind: can.includes(kind) ? kind : 'text',
  }
}

interface Expected {
  status: number
  /** The body of a JSON answer. */
  json?: object
  location?: string
  page?: true
  fields?: [string, string][]
}

function model(asked: Case): Expected {
  const { requiredFields = [], ...form } = FORMS[asked.form] as TestFormSettings
  const ajax =
    asked.mode === 'cors' ||
    asked.mode === 'same-origin' ||
    asked.type === JSON_TYPE ||
    asked.accept === 'application/json'
  const page = !ajax && asked.accept.includes('text/html')
  const refuse = (status: number, json: object): Expected => (page ? { status, page } : { status, json })
  const back = refererOf(asked.referer)

  if (form.enabled === false) return refuse(403, { error: 'Form is disabled' })
  const from = asked.origin && asked.origin !== 'null' ? asked.origin : asked.referer?.replace('u:p@', '')
  if (form.allowedOrigins && !from?.startsWith('https://site.example'))
    return refuse(403, { error: 'Origin not allowed' })
  if (asked.type === 'text/plain') return refuse(415, { error: 'Unsupported content type' })

  const trapped = asked.entries.some(
    ({ name, kind, value }) => name === '_gotcha' && (kind === 'text' ? value !== '' : kind === 'file'),
  )
  const errors = new Map<string, string>()
  const fields = new Map<string, string[]>()
  const [nested, files] = [new Set<string>(), new Set<string>()]
  for (const { name, kind, value } of asked.entries) {
    const control = name.startsWith('_') || name === 'cf-turnstile-response'
    if (name === '') continue
    if (kind === 'nested') nested.add(name)
    else if (control || kind === 'no file') continue
    else if (kind === 'file') files.add(name)
    else fields.set(name, [...(fields.get(name) ?? []), kind === 'null' ? '' : value])
  }
  for (const name of requiredFields) {
    if (!fields.get(name)?.some((value) => value.trim() !== '')) errors.set(name, 'This field is required')
  }
  const emails = fields.get('email') ?? []
  const email = emails.every((one) => one.trim() === '') ? '' : emails.join(', ').trim()
  if (email !== '' && email !== 'a@b.co') errors.set('email', 'Enter a valid email address')
  for (const name of files) errors.set(name, 'File uploads are not supported')
  for (const name of nested) errors.set(name, 'Must be a string')
  const said = (names: string[]) =>
    asked.entries.find(
      ({ name, kind, value }) => names.includes(name) && kind === 'text' && value.trim() !== '',
    )?.value

  const invalid = (body: object, shown: object): Expected => {
    if (!ajax && back) return { status: 303, location: withErrors(back, shown) }
    return refuse(422, { ok: false, ...body })
  }
  if (!trapped && errors.size > 0)
    return invalid({ errors: Object.fromEntries(errors) }, Object.fromEntries(errors))
  if (!trapped && form.captcha) {
    const token = said(
      asked.type === JSON_TYPE ? ['cf-turnstile-response', '_turnstile'] : ['cf-turnstile-response'],
    )
    const error = token === undefined ? 'Captcha verification required' : 'Captcha verification failed'
    return invalid({ error }, { 'cf-turnstile-response': error })
  }
  const success: Expected = ajax
    ? { status: 200, json: { ok: true } }
    : { status: 303, location: nextOf(said(['_next']), back) ?? form.redirectUrl ?? back ?? '/thanks' }
  if (trapped) return success
  return { ...success, fields: Array.from(fields, ([name, values]) => [name, values.join(', ')]) }
}

function refererOf(text: string | undefined): string | undefined {
  if (!text?.startsWith('https://site.example')) return undefined
  return text.replace('_errors=%7B%7D&', '')
}

const withErrors = (back: string, errors: object) =>
  `${back}${back.includes('?') ? '&' : '?'}_errors=${JSON.stringify(errors)}`

function nextOf(text: string | undefined, back: string | undefined): string | undefined {
  if (text === 'https://n.example/ok') return text
  if (back === undefined) return undefined
  // Any other text that is no absolute URL is a path relative to the page.
  const paths: Record<string, string> = {
    '/rel': 'https://site.example/rel',
    '//h.example/p': 'https://h.example/p',
    x: 'https://site.example/x',
    Ada: 'https://site.example/Ada',
    'a@b.co': 'https://site.example/a@b.co',
    ' a@b.co ': 'https://site.example/a@b.co',
    'a@b': 'https://site.example/a@b',
    'ü\r\n"&=+%41': 'https://site.example/%C3%BC%22&=+%41',
  }
  return text === undefined ? undefined : paths[text]
}

function bodyOf({ type, entries }: Case): string {
  if (type === MULTIPART_TYPE) {
    return toMultipart(
      entries.map(({ name, value, kind }) => {
        if (kind === 'no file') return { name, value: '', file: '' }
        return { name, value, file: kind === 'file' ? 'cv.pdf' : undefined }
      }),
    )
  }
  if (type === JSON_TYPE) {
    const texts = entries.map(({ name, value, kind }) => {
      const json = kind === 'nested' ? '{"x":[]}' : kind === 'null' ? 'null' : JSON.stringify(value)
      return `${JSON.stringify(name)}:${json}`
    })
    return `{${texts.join(',')}}`
  }
  return new URLSearchParams(entries.map(({ name, value }): [string, string] => [name, value])).toString()
}

/** Normalizes only what JSON and URLs leave open: the order, and how text is escaped. */
function comparable({ status, json, location, page }: Expected, origin: string): unknown {
  const url = location === undefined ? undefined : new URL(location, origin)
  const errors = url?.searchParams.get('_errors') ?? undefined
  url?.searchParams.delete('_errors')
  return {
    status,
    json,
    page,
    location: url?.href,
    errors: errors === undefined ? undefined : JSON.parse(errors),
  }
}

onBothEngines(
  'random requests',
  (server) => {
    test('are answered and stored as the model says', async () => {
      const forms = await Promise.all(FORMS.map((settings) => createTestForm(server(), settings)))
      const cases = fc.sample(request, { numRuns: REQUESTS })
      const kept = forms.map((): string[] => [])
      const seen = new Map<number, number>()
      let next = 0
      async function sender() {
        for (let asked = cases[next++]; asked; asked = cases[next++]) {
          const { mode, accept, referer, origin, type } = asked
          const named = { 'Sec-Fetch-Mode': mode, Accept: accept, Referer: referer, Origin: origin }
          const headers = Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined))
          const expected = model(asked)
          const form = forms[asked.form] as TestForm
          const answer = await form.post(type, bodyOf(asked), headers as Record<string, string>)
          const given: Expected = {
            status: answer.status,
            json: answer.json,
            location: answer.headers.get('location') ?? undefined,
            page: answer.text.startsWith('<!doctype html>') || undefined,
          }
          expect({ asked, answer: comparable(given, server().origin) }).toEqual({
            asked,
            answer: comparable(expected, server().origin),
          })
          if (expected.fields) kept[asked.form]?.push(JSON.stringify(expected.fields))
          seen.set(answer.status, (seen.get(answer.status) ?? 0) + 1)
        }
      }
      await Promise.all(Array.from({ length: AT_ONCE }, sender))
      for (const [index, form] of forms.entries()) {
        const found = (await form.fields()).map((fields) => JSON.stringify(fields))
        expect(found.sort()).toEqual((kept[index] as string[]).sort())
      }
      // The random cases reach every kind of answer often.
      for (const status of [200, 303, 403, 415, 422])
        expect(seen.get(status) ?? 0).toBeGreaterThan(REQUESTS / 50)
    }, 240_000)
  },
  BEHIND_PROXY,
)
