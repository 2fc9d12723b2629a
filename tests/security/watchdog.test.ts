// The watchdog: while a request holds the event loop, a thread logs which one, without its secrets. A process that was
// stopped from outside raises no alarm.

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInstallation, type Installation, type ServerProcess } from '../faults/server-process.ts'
import { fetchMetrics, readMetric, sumSamples } from '../support/read-metrics.ts'
import { full } from '../support/suite.ts'
import { until } from '../support/until.ts'

setDefaultTimeout(120_000)

const STALL_MS = 2_000
const STALL_MARK = 'hold-the-loop'
const PRELOAD = join(import.meta.dir, '../support/processes/stall-on-text.ts')

let installation: Installation
let server: ServerProcess
let form: string
let release: string

beforeAll(async () => {
  installation = await createInstallation(1)
  release = join(installation.dataDir, 'go-on')
  server = await installation.start({
    bunArguments: ['--preload', PRELOAD],
    environment: { STALL_MARK, STALL_UNTIL: release },
  })
  form = (await server.api(installation.keys[0] as string, '/forms', { name: 'Contact' })).json.data.formKey
})
afterAll(() => installation?.end())

interface Line {
  event: string
  [field: string]: unknown
}

const readLines = (event: string, from: number): Line[] =>
  server
    .readOutput()
    .slice(from)
    .split('\n')
    .filter((line) => line.includes(`"${event}"`) && line.endsWith('}'))
    .map((line) => JSON.parse(line))

/** Sends a request that stalls. @returns the line of the stall, written before the loop was free, and all that was written */
async function stall(
  path: string,
  init: RequestInit = {},
): Promise<{ line: Line; resumed: Line; text: string }> {
  rmSync(release, { force: true })
  const from = server.readOutput().length
  let answered = false
  const answer = fetch(server.origin + path, { redirect: 'manual', ...init }).then((response) => {
    answered = true
    return response.text()
  })
  await until('the line', () => readLines('event_loop_stalled', from).length > 0, 60_000)
  expect(answered).toBe(false)
  writeFileSync(release, '')
  await answer
  await until('the loop', () => readLines('event_loop_resumed', from).length > 0, 60_000)
  const [line] = readLines('event_loop_stalled', from)
  const [resumed] = readLines('event_loop_resumed', from)
  expect(Number(line?.ms)).toBeGreaterThanOrEqual(STALL_MS)
  expect(Number(resumed?.ms)).toBeGreaterThanOrEqual(STALL_MS)
  return { line: line as Line, resumed: resumed as Line, text: server.readOutput().slice(from) }
}

const readStalls = () => readMetric(server.origin, 'towpath_event_loop_stalls_total')

test('a form post that holds the event loop after its body has come is named while it does, and counted', async () => {
  const before = await readStalls()
  const body = `name=${STALL_MARK}&password=a-secret`
  const { line, text } = await stall(`/f/${form}?token=a-secret`, {
    method: 'POST',
    body,
    headers: {
      'X-Request-Id': 'the-one-that-stalls',
      'Content-Type': 'application/x-www-form-urlencoded',
      Cookie: 'session=a-secret',
    },
  })
  expect(line).toMatchObject({
    level: 'error',
    requestId: 'the-one-that-stalls',
    method: 'POST',
    path: `/f/${form}`,
    bytes: body.length,
  })
  expect(text).not.toContain('a-secret')
  const samples = await fetchMetrics(server.origin)
  expect(sumSamples(samples, 'towpath_event_loop_stalls_total')).toBe(before + 1)
  expect(sumSamples(samples, 'towpath_event_loop_longest_stall_seconds')).toBeGreaterThanOrEqual(
    STALL_MS / 1000,
  )
})

full('what holds the loop a second time is named with its stack afterwards', async () => {
  await stall(`/${STALL_MARK}`)
  const { resumed } = await stall(`/f/${form}`, {
    method: 'POST',
    body: `name=${STALL_MARK}`,
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  })
  expect(resumed.stack).toMatch(/stallOn[\s\S]*readForm[\s\S]*read-body\.ts/)
})

test.each([
  ['a plain GET', `/${STALL_MARK}?key=a-secret`, `/${STALL_MARK}`],
  ['a link in a mail', `/f/confirm/${STALL_MARK}.a-secret`, '/f/confirm/…'],
  ['a link to a file', `/f/files/${STALL_MARK}.a-secret`, '/f/files/…'],
])('%s on the fast path is named without its secrets', async (_, path, shown) => {
  const { line, text } = await stall(path)
  expect(line).toMatchObject({ method: 'GET', path: shown })
  expect(text).not.toContain('a-secret')
})

full('a process that was stopped and continued raises no alarm', async () => {
  const before = await readStalls()
  const from = server.readOutput().length
  const countTurns = async () =>
    sumSamples(await fetchMetrics(server.origin), 'towpath_event_loop_lag_seconds_count')
  process.kill(server.pid, 'SIGSTOP')
  // The time that goes by is what is tested.
  await Bun.sleep(2 * STALL_MS)
  process.kill(server.pid, 'SIGCONT')
  const turns = await countTurns()
  // The loop turns five times a second: the thread has looked several times.
  await until('the thread to look', async () => (await countTurns()) > turns + 8, 60_000)
  expect(await readStalls()).toBe(before)
  expect(server.readOutput().slice(from)).not.toContain('event_loop')
})

test('the server ends in order with its thread', async () => {
  expect(await server.stop()).toBe(0)
})
