import { afterAll, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onSqlite } from '../../../tests/support/world.ts'
import { createSnippet } from './snippet.ts'

const dirs: string[] = []
afterAll(() => {
  for (const dir of dirs) rmSync(dir, { recursive: true, force: true })
})

function open(needs: Partial<Parameters<typeof createSnippet>[0]> = {}) {
  const dataDir = mkdtempSync(join(tmpdir(), 'towpath-snippet-'))
  dirs.push(dataDir)
  const snippet = createSnippet({ origin: 'https://go.example', intakePath: 'e', dataDir, ...needs })
  const ask = (path: string, init?: RequestInit) =>
    (path === '/t.js' ? snippet.latest : snippet.versioned)(new Request(`https://go.example${path}`, init))
  return { ask, dataDir: needs.dataDir ?? dataDir }
}

const pinnedIn = (answer: Response) => {
  const [, url, integrity] =
    /^<https:\/\/go\.example(.*)>; rel="alternate"; integrity="(.*)"$/.exec(
      answer.headers.get('link') ?? '',
    ) ?? []
  return { path: url ?? '', integrity: integrity ?? '' }
}

const captchaIn = (text: string) => `/e/${/captcha-[0-9a-f]{16}\.js/.exec(text)?.[0]}`

describe('the snippet', () => {
  test('is at most 4 KB compressed, and uses no eval, markup, style, cookie or console', async () => {
    const { ask } = open({ origin: 'https://a-rather-long-name.links.example.com' })
    const answer = await ask('/t.js', { headers: { 'Accept-Encoding': 'gzip, deflate, br' } })
    expect(answer.headers.get('content-encoding')).toBe('gzip')
    const packed = new Uint8Array(await answer.arrayBuffer())
    expect(packed.length).toBeLessThanOrEqual(4_000)
    expect(Number(answer.headers.get('content-length'))).toBe(packed.length)
    const text = new TextDecoder().decode(Bun.gunzipSync(packed))
    expect(text).toBe(await (await ask('/t.js')).text())
    expect(text).not.toMatch(/\beval\(|\bFunction\(|innerHTML|\.style\b|cookie|localStorage|console\./)
  })

  test('is served under its versioned name with a hash, for ever', async () => {
    const { ask } = open()
    const moving = await ask('/t.js')
    const text = await moving.text()
    const { path, integrity } = pinnedIn(moving)
    const named = await ask(path)
    expect(await named.text()).toBe(text)
    expect(`sha256-${createHash('sha256').update(text).digest('base64')}`).toBe(integrity)
    expect(named.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(moving.headers.get('cache-control')).toBe('public, max-age=600')
    for (const answer of [moving, named, await ask(captchaIn(text))]) {
      expect(answer.status).toBe(200)
      expect(answer.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
      expect(answer.headers.get('access-control-allow-origin')).toBe('*')
      expect(answer.headers.get('cross-origin-resource-policy')).toBe('cross-origin')
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
      expect(answer.headers.get('vary')).toBe('Accept-Encoding')
      expect(answer.headers.get('set-cookie')).toBeNull()
    }
  })

  test('answers 304 to a browser that has it', async () => {
    const { ask } = open()
    const etag = (await ask('/t.js')).headers.get('etag') ?? ''
    for (const tag of [etag, `"other", ${etag}`, etag.replace('W/', ''), '*']) {
      const again = await ask('/t.js', { headers: { 'If-None-Match': tag } })
      expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag])
    }
    expect((await ask('/t.js', { headers: { 'If-None-Match': '"other"' } })).status).toBe(200)
  })

  test.each([
    ['gzip', true],
    ['br, GZIP;q=0.5', true],
    ['gzip;q=0, br', false],
    ['gzip;q=0.0', false],
    ['br', false],
    ['', false],
  ])('is compressed for Accept-Encoding "%s": %p', async (accept, packed) => {
    const { ask } = open()
    const answer = await ask('/t.js', { headers: { 'Accept-Encoding': accept } })
    expect(answer.headers.get('content-encoding')).toBe(packed ? 'gzip' : null)
  })

  test('a version that a page pinned is served after an upgrade', async () => {
    const before = open({ origin: 'https://go.example' })
    const text = await (await before.ask('/t.js')).clone().text()
    const { path } = pinnedIn(await before.ask('/t.js'))
    // Another origin makes another text, as another version does.
    const after = open({ origin: 'https://new.example', dataDir: before.dataDir })
    expect(await (await after.ask('/t.js')).text()).not.toBe(text)
    const pinned = await after.ask(path)
    expect([pinned.status, await pinned.text()]).toEqual([200, text])
    expect(pinned.headers.get('cache-control')).toContain('immutable')
  })

  test('never serves a damaged file, nor another file of the disk', async () => {
    const { ask, dataDir } = open()
    await ask('/t.js')
    const dir = join(dataDir, 'snippet')
    expect(readdirSync(dir)).toHaveLength(3)
    writeFileSync(join(dir, 't-0123456789abcdef.js'), 'alert(1)')
    writeFileSync(join(dataDir, 'secret'), 'secret')
    const bad = ['t-0123456789abcdef.js', 't-fedcba9876543210.js', '../secret', '..%2Fsecret', 't-x.js', '']
    for (const name of bad) {
      const answer = await ask(`/e/${name}`)
      expect([name, answer.status, await answer.json()]).toEqual([name, 404, { error: 'Not found' }])
    }
  })

  test('is served when it cannot be saved', async () => {
    const { ask, dataDir } = open()
    mkdirSync(dataDir, { recursive: true })
    writeFileSync(join(dataDir, 'snippet'), 'in the way')
    expect((await ask('/t.js')).status).toBe(200)
    expect(existsSync(join(dataDir, 'snippet'))).toBe(true)
  })

  test('uses the intake path of the settings', async () => {
    const { ask } = open({ intakePath: 'harbour' })
    const answer = await ask('/t.js')
    expect(pinnedIn(answer).path).toStartWith('/harbour/t-')
    expect(await answer.text()).toContain('harbour/')
  })
})

onSqlite('the snippet’s addresses', (server) => {
  test('answers GET and HEAD only', async () => {
    const { call } = server()
    const got = await call('/t.js')
    expect(got.status).toBe(200)
    expect(got.text).toContain(server().origin)
    const head = await call('/t.js', { method: 'HEAD' })
    expect([head.status, head.text, head.headers.get('etag')]).toEqual([200, '', got.headers.get('etag')])
    const captcha = await call(captchaIn(got.text))
    expect([captcha.status, captcha.headers.get('content-type')]).toEqual([
      200,
      'text/javascript; charset=utf-8',
    ])
    for (const path of ['/t.js', captchaIn(got.text)]) {
      const answer = await call(path, { method: 'POST', body: '{}' })
      expect([answer.status, answer.headers.get('allow'), answer.json]).toEqual([
        405,
        'GET, HEAD',
        { error: 'Method not allowed' },
      ])
    }
    expect((await call('/e/forms?keys=')).json).toEqual({ forms: {} })
    expect((await call('/e/nothing')).status).toBe(404)
  })
})
