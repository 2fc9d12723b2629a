// `npm start` needs nothing but what `npm ci` and a first build have left: it writes no file of the program, and loads no bundler.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chownSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '../support/architecture/read-checkout.ts'
import { findFreePort } from '../support/processes/free-port.ts'
import { until } from '../support/until.ts'

/** Makes the program read-only for the command that follows, with a mount over each of some directories of node_modules. */
const toScript = (covered: string[], command: string) => `
  set -e
  mount --make-rprivate /
  for path in "$1" "$2"; do mount --bind "$path" "$path"; mount -o remount,bind,ro "$path"; done
  for name in ${covered.join(' ')}; do mount -t tmpfs -o ro tmpfs "$2/$name"; done
  cd "$1"
  exec ${command}`

function spawnReadOnly(script: string, env: Record<string, string | undefined>) {
  const words = ['--mount', 'sh', '-c', script, 'sh', ROOT, realpathSync(join(ROOT, 'node_modules'))]
  return Bun.spawn(['unshare', ...words], {
    env: { PATH: process.env.PATH, ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
}

const isRoot = process.getuid?.() === 0 && Bun.which('unshare') !== null

describe.skipIf(!isRoot)(`npm start${isRoot ? '' : ' (skipped: mounts need root)'}`, () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'towpath-start-'))
  beforeAll(() => {
    expect(Bun.spawnSync([process.execPath, 'dashboard/build.ts'], { cwd: ROOT }).exitCode).toBe(0)
  }, 60_000)
  afterAll(() => rmSync(dataDir, { recursive: true, force: true }))

  test('starts on a read-only program without the bundler, and stops', async () => {
    const port = findFreePort()
    // These packages are the bundler's.
    const server = spawnReadOnly(toScript(['tailwindcss', 'react-dom', 'lucide-react'], 'npm start'), {
      HOME: dataDir,
      npm_config_update_notifier: 'false',
      DATA_DIR: dataDir,
      PORT: `${port}`,
      HOST: '127.0.0.1',
      LOG_LEVEL: 'warn',
    })
    const origin = `http://127.0.0.1:${port}`
    // Each answer is read to its end, on a connection of its own: an open one delays the stop.
    const get = async (path: string) => {
      const response = await fetch(origin + path, { headers: { Connection: 'close' } })
      return { status: response.status, text: await response.text() }
    }
    const isReady = async () => (await get('/readyz')).status === 200
    try {
      await until('the server', () => isReady().catch(() => server.exitCode !== null))
      const [, asset = ''] = /src="(\/app\/assets\/main-[^"]+)"/.exec((await get('/app')).text) ?? []
      expect((await get(asset)).status).toBe(200)
      expect((await get('/t.js')).status).toBe(200)
    } finally {
      server.kill('SIGTERM')
      await server.exited
    }
    // npm has handed the signal on, and has waited for the server.
    await expect(get('/livez')).rejects.toThrow()
    expect(await new Response(server.stderr).text()).toBe('')
  }, 120_000)

  test('bundles nothing into a directory that somebody else has made', async () => {
    const planted = join(dataDir, `towpath-dashboard-${process.getuid?.()}`)
    mkdirSync(planted)
    chownSync(planted, 65_534, 65_534)
    const script = toScript(['.cache'], `${process.execPath} dashboard/build.ts`)
    const build = spawnReadOnly(script, { TMPDIR: dataDir })
    expect(await new Response(build.stderr).text()).toContain(`${planted} belongs to somebody else`)
    expect(await build.exited).toBe(1)
    expect(readdirSync(planted)).toEqual([])
  })
})
