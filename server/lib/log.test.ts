import { afterAll, afterEach, expect, spyOn, test } from 'bun:test'
import { describeError, LOG_LEVELS, type LogLevel, log, setLogLevel } from './log.ts'

const written: { to: 'out' | 'err'; text: string }[] = []
const out = spyOn(process.stdout, 'write').mockImplementation(
  (text) => written.push({ to: 'out', text: String(text) }) > 0,
)
const err = spyOn(process.stderr, 'write').mockImplementation(
  (text) => written.push({ to: 'err', text: String(text) }) > 0,
)
afterEach(() => {
  written.length = 0
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
