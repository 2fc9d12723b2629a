import { afterAll, afterEach, expect, spyOn, test } from 'bun:test'
import { describeError, LOG_LEVELS, type LogLevel, log, setLogFormat, setLogLevel } from './log.ts'
import { toPrettyLine } from './telemetry/log-format.ts'
import { createRequestContext, runForNobody, runForRequest } from './telemetry/request-context.ts'

const written: { to: 'out' | 'err'; text: string }[] = []
const out = spyOn(process.stdout, 'write').mockImplementation(
  (text) => written.push({ to: 'out', text: String(text) }) > 0,
)
const err = spyOn(process.stderr, 'write').mockImplementation(
  (text) => written.push({ to: 'err', text: String(text) }) > 0,
)
afterEach(() => {
  written.length = 0
  setLogFormat('json')
})
afterAll(() => {
  out.mockRestore()
  err.mockRestore()
  setLogLevel('silent')
})

test.each([
  ['info', ['info', 'warn', 'error']],
  ['warn', ['warn', 'error']],
  ['error', ['error']],
  ['silent', []],
] as [LogLevel, string[]][])('at %s, %p are written', (level, expected) => {
  setLogLevel(level)
  log.info('one')
  log.warn('two')
  log.error('three')
  expect(written.map(({ text }) => JSON.parse(text).level)).toEqual(expected)
  expect(LOG_LEVELS).toContain(level)
})

test('shows no control or reordering character of a stranger to a terminal', () => {
  setLogLevel('info')
  const path = '/v1/\x1b[2J\x9b2J\x7f\u2028\u202egpj.\u2066\u200f'
  log.info('request', { path })
  const [{ text } = { text: '' }] = written
  expect(text.slice(0, -1)).toMatch(/^[ -~]+$/)
  expect(JSON.parse(text).path).toBe(path)
})

test('writes one line of JSON per event, and errors to standard error', () => {
  setLogLevel('info')
  log.info('shipped', { hits: 3, from: 'a\n{"level":"error"}' })
  log.error('failed', describeError(new Error('outer', { cause: new Error('inner') })))
  expect(written.map(({ to }) => to)).toEqual(['out', 'err'])
  for (const { text } of written) expect(text.indexOf('\n')).toBe(text.length - 1)
  expect(JSON.parse(written[0]?.text ?? '')).toEqual({
    at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    level: 'info',
    event: 'shipped',
    hits: 3,
    from: 'a\n{"level":"error"}',
  })
  expect(JSON.parse(written[1]?.text ?? '')).toMatchObject({
    error: 'outer',
    cause: 'inner',
    stack: expect.any(String),
  })
  expect(describeError('text')).toEqual({ error: 'text' })
})

test('for people, lines are aligned and have the same fields', () => {
  setLogLevel('info')
  setLogFormat('pretty')
  log.info('request', { path: '/v1/links', status: 200, keyId: undefined })
  log.warn('slow_request', { route: '/{slug}', text: 'two words' })
  expect(written.map(({ text }) => text.replace(/^\S+ /, ''))).toEqual([
    'INFO  request                  path=/v1/links status=200\n',
    'WARN  slow_request             route="/{slug}" text="two words"\n',
  ])
})

test('for people, a text of a stranger is no other field, begins no line and controls no terminal', () => {
  setLogLevel('info')
  setLogFormat('pretty')
  const text = 'a level=error\n2026-01-01T00:00:00.000Z ERROR forged\x1b[2J\x9b\u202e'
  log.error('failed', { text, ...describeError(new Error(text)), stack: `Error: ${text}\n    at a file` })
  const lines = written
    .map((each) => each.text)
    .join('')
    .trimEnd()
    .split('\n')
  expect(lines.filter((line) => !line.startsWith('    '))).toHaveLength(1)
  expect(lines.join('')).toMatch(/^[ -~]+$/)
  expect(lines[0]).toContain(`text=${JSON.stringify(text.slice(0, 14)).slice(0, -1)}`)
})

test('only a terminal gets colors', () => {
  const line = { at: 'now', level: 'warn', event: 'busy', fields: { a: 1 } }
  expect(toPrettyLine(line, false)).not.toContain('\x1b')
  expect(toPrettyLine(line, true)).toContain('\x1b[33mWARN \x1b[0m')
})

test('a line has the id of the running request, and none after its answer or in work of all', async () => {
  setLogLevel('info')
  const request = createRequestContext('the-request', '/v1/links')
  await runForRequest(request, async () => {
    await Promise.resolve()
    log.info('one')
    runForNobody(() => log.info('two'))
    request.ended = true
    log.info('three')
  })
  log.info('four')
  expect(written.map(({ text }) => JSON.parse(text).requestId)).toEqual([
    'the-request',
    undefined,
    undefined,
    undefined,
  ])
})
