// The npm package `towpath` as somebody else uses it: packed, installed from its tarball, and started in an empty directory.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '../support/architecture/read-checkout.ts'
import { findFreePort } from '../support/processes/free-port.ts'
import { until } from '../support/until.ts'

const INSTALL_MS = 300_000

let dir: string
let tarball: string

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'towpath-npx-'))
  tarball = `./${run(['npm', 'pack', '--silent', '--pack-destination', dir], ROOT).trim().split('\n').at(-1)}`
}, INSTALL_MS)
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const environment = () => ({
  PATH: process.env.PATH,
  HOME: process.env.HOME,
  // Downloads come from the usual cache, and installations go into this directory.
  npm_config_cache: process.env.npm_config_cache,
  npm_config_prefer_offline: 'true',
  npm_config_yes: 'true',
  npm_config_audit: 'false',
})

function run(command: string[], cwd = dir): string {
  const { success, stdout, stderr } = Bun.spawnSync(command, { cwd, env: environment() })
  if (!success) throw new Error(`${command.join(' ')} failed: ${stdout}${stderr}`)
  return stdout.toString()
}

test('has the program and the built dashboard, and neither tests nor benchmarks nor docs', () => {
  const files = run(['tar', '-tzf', tarball])
    .trim()
    .split('\n')
    .map((name) => name.replace(/^package\//, ''))
  const folders = new Set(files.filter((name) => name.includes('/')).map((name) => name.split('/')[0]))
  expect([...folders].sort()).toEqual(['bin', 'dashboard', 'node_modules', 'server', 'snippet'])
  expect(files).toContain('dashboard/built/built.json')
  expect(files.filter((name) => /\.(test|fixture)\.|\/fixtures\/|\.tsx$/.test(name))).toEqual([])
  // swagger-ui-dist comes with our empty package in place of the one that counts installations.
  const counting = files.filter((name) => name.includes('@scarf/') && !name.endsWith('package.json'))
  for (const name of counting) expect(run(['tar', '-xzOf', tarball, `package/${name}`])).not.toContain('http')
})

test(
  'npx ./towpath-*.tgz start serves in an empty directory, and npx runs the operator’s commands beside it',
  async () => {
    const port = String(findFreePort())
    const server = Bun.spawn(['npx', tarball, 'start'], {
      cwd: dir,
      env: { ...environment(), PORT: port },
      stdout: 'pipe',
      stderr: 'ignore',
      detached: true,
    })
    const origin = `http://localhost:${port}`
    const ask = (path: string) => fetch(`${origin}${path}`).catch(() => undefined)
    try {
      await until('the server', async () => (await ask('/readyz'))?.ok === true, INSTALL_MS)
      const page = (await (await ask('/app'))?.text()) ?? ''
      const script = /src="(\/app\/assets\/main-\w+\.js)"/.exec(page)?.[1]
      expect((await ask(script ?? ''))?.status).toBe(200)
      expect((await ask('/t.js'))?.status).toBe(200)
      expect((await ask('/docs'))?.status).toBe(200)
      const created = run(['npx', tarball, 'workspace', 'create', 'My team'])
      expect(JSON.parse(created)).toMatchObject({ name: 'My team' })
      expect(run(['npx', tarball, 'help'])).toStartWith('Usage: npx towpath <command>')
    } finally {
      // Ctrl-C in a terminal reaches npx, its shell and the server.
      process.kill(-server.pid, 'SIGINT')
    }
    await server.exited
    expect(await new Response(server.stdout).text()).toContain('Towpath is ready.')
    expect(await ask('/readyz')).toBeUndefined()
  },
  INSTALL_MS,
)

test('npx towpath works in a checkout', () => {
  expect(run(['npx', '--offline', 'towpath', 'help'], ROOT)).toStartWith('Usage: npx towpath <command>')
})
