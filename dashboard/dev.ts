// Runs the server and the dashboard for `npm run dev`. A change in a source file starts the server and builds the
// dashboard again, and the page reloads by itself.

import { watch } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dir, '..')
const WATCHED = ['server', 'dashboard', 'snippet']
/** What the running product is made of: no tests, no editor's temporary files. */
const SOURCE = /^(?!.*\.(?:test|fixture)\.tsx?$).*\.(?:tsx?|css|json)$/
/** An editor that saves many files, or a change of branch, is one change. */
const SETTLED_MS = 100
/** A server that has not ended by then is killed: what it had answered is on the disk. */
const STOP_MS = 3_000

const env = { ...process.env, NODE_ENV: 'development' }

const say = (text: string) => process.stdout.write(`dev: ${text}\n`)

/** Before the server starts, so that a mistake in the dashboard is shown here. Quick where nothing changed. */
async function buildDashboard(): Promise<boolean> {
  const build = Bun.spawn([process.execPath, join(ROOT, 'dashboard/build.ts')], {
    cwd: ROOT,
    env,
    stdout: 'ignore',
    stderr: 'inherit',
  })
  return (await build.exited) === 0
}

type Server = ReturnType<typeof startServer>

let running: Server | undefined
let stopping = false
let changed = new Set<string>()
let timer: Timer | undefined
let turn: Promise<void> = Promise.resolve()

function startServer() {
  const server = Bun.spawn([process.execPath, join(ROOT, 'server/main.ts')], {
    cwd: ROOT,
    env,
    stdin: 'ignore',
    stdout: 'inherit',
    stderr: 'inherit',
  })
  void server.exited.then((code) => {
    if (server === running) say(`the server ended with ${code}; the next change starts it again`)
  })
  return server
}

/** @param signal undefined where the server has it already */
async function stopServer(signal: NodeJS.Signals | undefined): Promise<void> {
  const server = running
  running = undefined
  if (!server) return
  if (signal) server.kill(signal)
  const late = setTimeout(() => server.kill('SIGKILL'), STOP_MS)
  await server.exited
  clearTimeout(late)
}

async function restart(): Promise<void> {
  const [first, ...others] = changed
  changed = new Set()
  if (first === undefined || stopping) return
  say(`${first}${others.length > 0 ? ` and ${others.length} more` : ''} changed`)
  if (!(await buildDashboard())) {
    say('the dashboard could not be built; the server that runs goes on')
    return
  }
  await stopServer('SIGTERM')
  if (!stopping) running = startServer()
}

/** Ctrl-C reaches the server too, and a second signal would end it at once: then it is only waited for. */
function stop(signal: NodeJS.Signals) {
  if (stopping) return
  stopping = true
  void stopServer(signal === 'SIGINT' ? undefined : 'SIGTERM').then(() => process.exit(0))
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop(signal))
await buildDashboard()
if (!stopping) running = startServer()
for (const folder of WATCHED) {
  watch(join(ROOT, folder), { recursive: true }, (_event, name) => {
    if (name === null || !SOURCE.test(name)) return
    changed.add(`${folder}/${name}`)
    clearTimeout(timer)
    timer = setTimeout(() => {
      turn = turn.then(restart)
    }, SETTLED_MS)
  })
}
