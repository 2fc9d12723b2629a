// The Dockerfile makes an image that runs read-only and without rights. It takes minutes and needs root on Debian, so only
// `npm run soak` builds it.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chmodSync, chownSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildImage, canBuildImages, type Image } from '../support/containers/build-image.ts'
import { runInContainer, startContainer } from '../support/containers/run-container.ts'
import { findFreePort } from '../support/processes/free-port.ts'
import { soak } from '../support/suite.ts'
import { until } from '../support/until.ts'
import { BROWSER_USER_AGENT } from '../support/world.ts'

const BUILD_MS = 900_000
const MAX_BYTES = 400_000_000
/** An address in the United States. */
const VISITOR = { 'User-Agent': BROWSER_USER_AGENT, 'X-Forwarded-For': '8.8.8.8' }

const describeImage = canBuildImages() ? soak.describe : describe.skip

describeImage('the image (needs root on Debian)', () => {
  let image: Image
  let dataDir: string
  const port = findFreePort()
  const origin = `http://127.0.0.1:${port}`
  const environment = { PORT: `${port}`, TRUST_PROXY: '127.0.0.1' }
  const start = () => startContainer(image, image.config.Cmd, { dataDir, environment })
  const run = (command: string[]) => runInContainer(image, command, { dataDir, environment })
  const getText = async (path: string) => {
    const response = await fetch(origin + path, { redirect: 'manual', headers: VISITOR })
    return {
      status: response.status,
      location: response.headers.get('location'),
      text: await response.text(),
    }
  }
  const checkHealth = async () => (await run(image.config.Healthcheck.Test.slice(1))).exitCode

  beforeAll(() => {
    image = buildImage()
    dataDir = mkdtempSync(join(tmpdir(), 'towpath-volume-'))
    const user = Number(image.config.User)
    chownSync(dataDir, user, user)
    chmodSync(dataDir, 0o700)
  }, BUILD_MS)
  afterAll(() => {
    image?.remove()
    if (dataDir) rmSync(dataDir, { recursive: true, force: true })
  })

  test('has at most 400 MB, a user that is not root, its data in /data, and no tools to build', () => {
    process.stderr.write(`image: ${Math.round(image.bytes / 1e6)} MB\n`)
    expect(image.bytes).toBeLessThanOrEqual(MAX_BYTES)
    expect(Number(image.config.User)).toBeGreaterThan(0)
    expect(Object.keys(image.config.Volumes)).toEqual(['/data'])
    const tools = [
      'usr/bin/node',
      'usr/bin/npm',
      'usr/bin/g++',
      'root/.npm',
      'root/.npmrc',
      'opt/towpath/tests',
    ]
    expect(tools.filter((path) => existsSync(join(image.root, path)))).toEqual([])
  })

  test(
    'serves links, forms, the dashboard and the snippet with a read-only root, stops in order, and goes on',
    async () => {
      const server = start()
      try {
        await until('the server', async () => !server.isRunning() || (await checkHealth()) === 0)
        const key = await createKey()
        const call = createCaller(origin, key)
        await call('/links', { slug: 'spring', destinationUrl: 'https://example.com/sale' })
        const { formKey } = await call('/forms', { name: 'Contact' })
        expect(await getText('/spring')).toMatchObject({ status: 302, location: 'https://example.com/sale' })
        const sent = await fetch(`${origin}/f/${formKey}`, {
          method: 'POST',
          body: new URLSearchParams({ message: 'Hello' }),
          redirect: 'manual',
          headers: VISITOR,
        })
        expect(sent.status).toBe(303)
        expect(await call(`/forms/${formKey}/submissions`)).toMatchObject([{ fields: { message: 'Hello' } }])
        // The country is that of the address, so the file of countries could be read.
        await until('analytics have the click', async () => {
          const [first] = await call('/analytics/clicks?groupBy=country&interval=all')
          return first?.country === 'US' && first.clicks === 1
        })

        const page = await getText('/app')
        const asset = /src="(\/app\/assets\/main-[^"]+)"/.exec(page.text)?.[1] as string
        for (const path of [asset, '/t.js', '/docs', '/docs/recipes'])
          expect([path, (await getText(path)).status]).toEqual([path, 200])
        // Nothing was bundled: what the image has was taken.
        expect((await run(['node_modules/.bin/bun', 'dashboard/build.ts'])).stdout).toStartWith(
          '/opt/towpath/',
        )
        const written = await run([
          'sh',
          '-c',
          'id -u; touch /opt/towpath/a; touch /data/a /tmp/a && echo ok',
        ])
        expect(written.stdout.split('\n')).toEqual([image.config.User, 'ok', ''])
        expect(written.stderr).toContain('Read-only file system')
        const { exitCode, stderr } = await server.stop()
        const errors = stderr.split('\n').filter((line) => line.includes('"error"'))
        expect([exitCode, errors]).toEqual([0, []])
      } finally {
        await server.stop()
      }
      expect(await checkHealth()).toBe(1)

      const second = start()
      await until('the server again', async () => !second.isRunning() || (await checkHealth()) === 0)
      expect((await getText('/spring')).status).toBe(302)
      expect((await second.stop()).exitCode).toBe(0)
    },
    BUILD_MS,
  )

  /** With the operator's commands, in containers beside the server. */
  async function createKey(): Promise<string> {
    const workspace = await run(['towpath', 'workspace', 'create', 'Team'])
    expect(workspace.exitCode === 0 ? '' : workspace.stderr).toBe('')
    const { id } = JSON.parse(workspace.stdout)
    return (await run(['towpath', 'key', 'create', '--workspace', `${id}`])).stdout.trim()
  }
})

function createCaller(origin: string, key: string) {
  return async (path: string, body?: unknown) => {
    const response = await fetch(`${origin}/v1${path}`, {
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    })
    // biome-ignore lint/suspicious/noExplicitAny: answers have many shapes
    const { data } = (await response.json()) as any
    return data
  }
}
