// Runs the server and the dashboard for `npm run dev`. A change in a source file starts the server and builds the
// dashboard again, and the page reloads by itself.

import { watch } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dir, '..')
const WATCHED = ['server', 'dashboard', 'snippet']
/** Source files of the running program, without tests and editors' temporary files. */
const SOURCE = /^(?!.*\.(?:test|fixture)\.tsx?$).*\.(?:tsx?|css|json)$/
/** Changes within this time count as one, such as a change of branch. */
const SETTLED_MS = 100
/** Kills a server that has not stopped by then. Everything that it has confirmed is on the disk. */
const STOP_MS = 3_000

const env = { ...process.env, NODE_ENV: 'development' }

const print = (text: string) => process.stdout.write(`dev: ${text}\n`)

/**
 * Runs before the server starts, so that build errors appear in the terminal. It is quick when nothing has changed.
 */
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
let lastRestart: Promise<void> = Promise.resolve()

function startServer() {
  const server = Bun.spawn([process.execPath, join(ROOT, 'server/main.ts')], {
    cwd: ROOT,
    env,
    stdin: 'ignore',
    stdout: 'inherit',
    stderr: 'inherit',
  })
  void server.exited.then((code) => {
    if (server === running) print(`the server exited with ${code}; the next change starts it again`)
  })
  return server
}

/** @param signal undefined when the server has already received it */
async function stopServer(signal: NodeJS.Signals | undefined): Promise<void> {
  const server = running
  running = undefined
  if (!server) return
  if (signal) server.kill(signal)
  const killTimer = setTimeout(() => server.kill('SIGKILL'), STOP_MS)
  await server.exited
  clearTimeout(killTimer)
}

async function restart(): Promise<void> {
  const [first, ...others] = changed
  changed = new Set()
  if (first === undefined || stopping) return
  print(`${first}${others.length > 0 ? ` and ${others.length} more` : ''} changed`)
  if (!(await buildDashboard())) {
    print('the dashboard could not be built; the running server continues')
    return
  }
  await stopServer('SIGTERM')
  if (!stopping) running = startServer()
}

/**
 * Ctrl-C also reaches the server, and a second signal would end it at once. So on SIGINT this only waits for the
 * server.
 */
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
      lastRestart = lastRestart.then(restart)
    }, SETTLED_MS)
  })
}
