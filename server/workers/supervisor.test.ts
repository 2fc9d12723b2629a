// The supervisor with small scripts as workers: they end, refuse to start, or are stopped.

import { afterAll, afterEach, beforeEach, expect, spyOn, test } from 'bun:test'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '../../tests/support/until.ts'
import { setLogLevel } from '../lib/log.ts'
import { type Supervisor, startSupervisor } from './supervisor.ts'

const dir = mkdtempSync(join(tmpdir(), 'towpath-supervisor-'))
const written: string[] = []
const streams = [spyOn(process.stdout, 'write'), spyOn(process.stderr, 'write')]
const supervisors: Supervisor[] = []
beforeEach(() => {
  setLogLevel('info')
  for (const stream of streams) stream.mockImplementation((text) => written.push(String(text)) > 0)
})
afterEach(async () => {
  setLogLevel('silent')
  written.length = 0
  for (const supervisor of supervisors.splice(0)) {
    supervisor.stop()
    supervisor.kill()
    await supervisor.ended
  }
})
afterAll(() => {
  for (const stream of streams) stream.mockRestore()
  rmSync(dir, { recursive: true, force: true })
})

const READY = `process.send({ type: 'ready', node: 'node' + worker, text: 'ready ' + worker })`
const STOP_IN_ORDER = `process.on('message', ({ type }) => { if (type === 'stop') { stopped(); process.exit(0) } })`
/** Says by a file that it runs, or was stopped. */
const PRELUDE = `
  import { writeFileSync } from 'node:fs'
  const [, , worker, home] = process.argv
  const stopped = () => writeFileSync(home + '/stopped-' + worker, '')
  writeFileSync(home + '/started-' + worker, String(process.pid))
  setInterval(() => {}, 1000)
`

let scripts = 0
function start(count: number, script: string) {
  const home = mkdtempSync(join(dir, 'run-'))
  const file = join(dir, `worker-${++scripts}.ts`)
  writeFileSync(file, PRELUDE + script)
  const readyTexts: string[] = []
  const supervisor = startSupervisor({
    count,
    toCommand: (worker) => [process.execPath, file, String(worker), home],
    onReady: (text) => readyTexts.push(text),
  })
  supervisors.push(supervisor)
  const has = (what: string, worker: number) => existsSync(join(home, `${what}-${worker}`))
  return { supervisor, readyTexts, has, home }
}

const listEvents = (event: string) =>
  written.map((line) => JSON.parse(line)).filter((line) => line.event === event)

test('starts the others once the first one listens, and says once that all are ready', async () => {
  const script = `
    import { existsSync } from 'node:fs'
    const listen = setInterval(() => {
      if (worker === '1' && !existsSync(home + '/go')) return
      clearInterval(listen)
      ${READY}
    }, 5)
    ${STOP_IN_ORDER}`
  const { supervisor, readyTexts, has, home } = start(3, script)
  await until('the first one', () => has('started', 1))
  expect([has('started', 2), readyTexts.length]).toEqual([false, 0])
  writeFileSync(join(home, 'go'), '')
  await until('all of them', () => readyTexts.length > 0)
  expect([has('started', 2), has('started', 3), readyTexts.length]).toEqual([true, true, 1])
  supervisor.stop()
  expect(await supervisor.ended).toEqual({ exitCode: 0, sentence: undefined })
  expect([1, 2, 3].map((worker) => has('stopped', worker))).toEqual([true, true, true])
})

test('starts a worker again after a pause that doubles, for as long as it ends, and the others go on', async () => {
  const script = `${STOP_IN_ORDER}\n${READY}\nif (worker === '2') process.exit(3)`
  const { supervisor } = start(2, script)
  await until('three ends', () => listEvents('worker_lost').length === 3)
  expect(
    listEvents('worker_lost').map(({ worker, ended, restartInMs }) => [worker, ended, restartInMs]),
  ).toEqual([
    [2, '3', 250],
    [2, '3', 500],
    [2, '3', 1000],
  ])
  supervisor.stop()
  expect((await supervisor.ended).exitCode).toBe(0)
})

test('ends all with the first sentence when a worker refuses to start', async () => {
  const script = `
    ${STOP_IN_ORDER}
    if (worker === '1') ${READY}
    else process.send({ type: 'refused', sentence: 'PORT: cannot be used.' })`
  const { supervisor, readyTexts, has } = start(3, script)
  expect(await supervisor.ended).toEqual({ exitCode: 1, sentence: 'PORT: cannot be used.' })
  expect([readyTexts.length, has('stopped', 1)]).toEqual([0, true])
})

test('goes on trying when a worker that ran refuses to start again', async () => {
  const script = `
    import { existsSync } from 'node:fs'
    ${STOP_IN_ORDER}
    if (existsSync(home + '/away')) process.send({ type: 'refused', sentence: 'The database is away.' })
    else ${READY}`
  const { home, readyTexts } = start(1, script)
  await until('it is ready', () => readyTexts.length === 1)
  writeFileSync(join(home, 'away'), '')
  process.kill(Number(await Bun.file(join(home, 'started-1')).text()), 'SIGKILL')
  const refusal = await until('a refusal', () => listEvents('worker_cannot_start')[0])
  expect(refusal).toMatchObject({ level: 'error', worker: 1, reason: 'The database is away.' })
  rmSync(join(home, 'away'))
  await until('it is back', () => listEvents('worker_ready').length === 1)
})

test('ends a worker at once that does not stop, when it is told to kill', async () => {
  const { supervisor, readyTexts } = start(2, READY)
  await until('they are ready', () => readyTexts.length === 1)
  supervisor.stop()
  supervisor.kill()
  expect((await supervisor.ended).exitCode).toBe(1)
})
