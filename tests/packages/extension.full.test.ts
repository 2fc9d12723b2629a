// The browser extension in Chromium, loaded as a browser loads it: connects, shortens the open tab, copies, shows the QR code
// and the last ten links, and says what is wrong with servers that are not ours.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import jsQR from 'jsqr'
import { type BrowserContext, chromium, type Page } from 'playwright-core'
import { PNG } from 'pngjs'
import { buildExtension, packExtension } from '../../packages/build/pack-extension.ts'
import { findBarriers } from '../support/browser/accessibility.ts'
import { CHROMIUM_INSTALL_MS, getChromium } from '../support/browser/chromium.ts'
import { measureOverflow } from '../support/browser/dashboard-paths.ts'
import { readZip } from '../support/readers/read-zip.ts'
import { until } from '../support/until.ts'
import { onSqlite } from '../support/world.ts'

const dir = mkdtempSync(join(tmpdir(), 'towpath-extension-test-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

/** Chromium makes the id of an unpacked extension from its path. */
const toId = (path: string) =>
  Array.from(createHash('sha256').update(path).digest('hex').slice(0, 32))
    .map((digit) => String.fromCharCode(97 + Number.parseInt(digit, 16)))
    .join('')

/** @param hosts granted from the start: nobody can press "Allow" in the browser's own dialog */
async function openExtension(name: string, hosts: string[]) {
  const path = join(dir, name)
  await buildExtension(path)
  const file = Bun.file(join(path, 'manifest.json'))
  await Bun.write(file, JSON.stringify({ ...(await file.json()), host_permissions: hosts }))
  const context = await chromium.launchPersistentContext('', {
    executablePath: getChromium(),
    args: [`--disable-extensions-except=${path}`, `--load-extension=${path}`],
  })
  return { context, origin: `chrome-extension://${toId(path)}` }
}

test('the zip has what a browser needs and no more, and asks for no host but the server’s', async () => {
  const zip = await readZip(await packExtension(dir))
  const names = [
    'LICENSE',
    'icon-128.png',
    'icon-16.png',
    'icon-48.png',
    'manifest.json',
    'popup.html',
    'popup.js',
  ]
  expect([...zip.keys()].sort()).toEqual([...names, 'settings.html', 'settings.js', 'style.css'])
  const manifest = JSON.parse(new TextDecoder().decode(zip.get('manifest.json')))
  expect(manifest).toMatchObject({ manifest_version: 3, permissions: ['activeTab', 'storage'] })
  expect(manifest.host_permissions).toBeUndefined()
  expect(manifest.content_scripts).toBeUndefined()
})

onSqlite('the browser extension', (server) => {
  let context: BrowserContext
  let origin: string
  beforeAll(async () => {
    ;({ context, origin } = await openExtension('allowed', ['http://127.0.0.1/*', 'http://localhost/*']))
  }, CHROMIUM_INSTALL_MS)
  afterAll(() => context?.close())

  async function connect(address: string, key: string): Promise<string> {
    const page = await context.newPage()
    await page.goto(`${origin}/settings.html`)
    await page.getByLabel('Server').fill(address)
    await page.getByLabel('API key').fill(key)
    await page.getByRole('button', { name: 'Connect' }).click()
    const status = page.getByRole('status')
    await until('an answer', async () => /^(?!Asking)./.test((await status.textContent()) ?? ''))
    const text = (await status.textContent()) as string
    expect(await page.getByLabel('Server').inputValue()).not.toBe('')
    await page.close()
    return text
  }

  /** The popup in a tab of its own: what it takes for the open tab is given. */
  async function openPopup(tabUrl: string | undefined, options: { stub?: string } = {}): Promise<Page> {
    const page = await context.newPage()
    await page.setViewportSize({ width: 360, height: 700 })
    await page.addInitScript(
      `chrome.tabs.query = async () => [{ url: ${JSON.stringify(tabUrl)} }]; ${options.stub ?? ''}`,
    )
    await page.goto(`${origin}/popup.html`)
    return page
  }
  /** What a person gets who pastes. */
  async function paste(): Promise<string> {
    const page = await context.newPage()
    await page.goto(`${origin}/settings.html`)
    await page.getByLabel('Server').fill('')
    await page.getByLabel('Server').press('ControlOrMeta+V')
    const text = await page.getByLabel('Server').inputValue()
    await page.close()
    return text
  }
  const alert = async (page: Page) => {
    await page.getByRole('alert').waitFor()
    return page.getByRole('alert').textContent()
  }

  test('asks to connect, and keeps nothing before a server of ours has accepted the key', async () => {
    const popup = await openPopup('https://example.com/')
    expect(await alert(popup)).toBe('Connect the extension to your server first.')
    await popup.close()
    const { key } = await server().createWorkspace()
    const foreign: [answer: () => Response, status: string][] = [
      [() => new Response('<h1>Hello</h1>'), 'is not a Towpath server.'],
      [() => Response.json({ data: { name: 'x' } }), 'is not a Towpath server.'],
      [() => Response.json(null), 'is not a Towpath server.'],
      [() => new Response('no', { status: 500 }), 'is not a Towpath server.'],
      [() => new Response('x'.repeat(2_000_000)), 'is not a Towpath server: its answer is too long.'],
      [() => Response.redirect(`${server().origin}/v1/workspace`), 'is not a Towpath server.'],
      [() => Response.json({ error: '<b>Boo</b>' }, { status: 402 }), 'says: <b>Boo</b>'],
    ]
    let answer = () => new Response()
    const other = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => answer() })
    for (const [next, status] of foreign) {
      answer = next
      expect(await connect(other.url.origin, key)).toBe(`${other.url.host} ${status}`)
    }
    await other.stop(true)
    expect(await connect(other.url.origin, key)).toStartWith(`${other.url.host} cannot be reached.`)
    expect(await connect(server().origin, 'tp_wrong')).toContain('does not accept the API key')
    expect(await connect(server().origin, 'secret')).toStartWith('Enter an API key')
    for (const address of ['javascript:alert(1)', 'ftp://go.example', 'https://a:b@go.example', 'https://'])
      expect(await connect(address, key)).toStartWith('Enter the address of your server')
    const again = await openPopup('https://example.com/')
    expect(await alert(again)).toBe('Connect the extension to your server first.')
    await again.close()
  })

  test('shortens the open tab once, copies, shows the QR code and the last ten links', async () => {
    const ws = await server().createWorkspace()
    for (let n = 0; n < 12; n++)
      await ws.createLink({ destinationUrl: `https://example.com/${n}/${'long'.repeat(50)}` })
    expect(await connect(` ${server().origin}/app `, ws.key)).toStartWith(
      'Connected to the workspace Test on 127.0.0.1',
    )
    const url = 'https://example.com/a?b=<script>&c="d"#e'
    const popup = await openPopup(url)
    const copy = popup.locator('#result button')
    await copy.click()
    await popup.locator('#result button', { hasText: 'Copied' }).waitFor()
    const copied = await paste()
    const [link] = (await ws.api('/links?limit=1')).json.data
    expect([copied, new URL(link.destinationUrl).href]).toEqual([link.shortUrl, new URL(url).href])
    await popup.locator('#links li').nth(9).waitFor()
    expect(await popup.locator('#links li').count()).toBe(10)
    await until('the QR code', () =>
      popup.evaluate<boolean>(`document.querySelector('#result img').naturalWidth > 0`),
    )
    const { data, width, height } = PNG.sync.read(
      await popup.locator('#result img').screenshot({ scale: 'css' }),
    )
    expect(jsQR(new Uint8ClampedArray(data), width, height)?.data).toBe(`${link.shortUrl}?qr=1`)
    expect(await findBarriers(popup)).toEqual([])
    expect(await measureOverflow(popup)).toBe(0)
    await popup.close()
    await (await openPopup(url))
      .getByRole('button', { name: `Copy ${link.shortUrl}` })
      .first()
      .waitFor()
    expect((await ws.api('/links')).json.total).toBe(13)
  })

  test('says what a tab, a key or an answer lacks', async () => {
    const ws = await server().createWorkspace()
    await connect(server().origin, ws.key)
    for (const tab of [undefined, 'chrome://extensions/', 'file:///etc/passwd', 'javascript:alert(1)']) {
      const popup = await openPopup(tab)
      expect(await alert(popup)).toBe('This tab has no web address that can be shortened.')
      await popup.close()
    }
    const own = await openPopup(`${server().origin}/some-link`)
    expect(await alert(own)).toContain('says: destinationUrl:')
    await own.close()
    const answers = [
      { id: 1, shortUrl: 'javascript:alert(1)', destinationUrl: 'https://example.com/' },
      { id: 1 },
      [],
    ]
    for (const data of answers) {
      const stub = `fetch = async () => Response.json(${JSON.stringify({ data })})`
      const popup = await openPopup('https://example.com/', { stub })
      expect(await alert(popup)).toBe('The API key needs the scopes links:read and links:write.')
      expect(await popup.locator('a').count()).toBe(0)
      await popup.close()
    }
    expect((await ws.api('/links')).json.total).toBe(0)
  })

  test('reads the address of the open tab when its button is pressed', async () => {
    const ws = await server().createWorkspace()
    await connect(server().origin, ws.key)
    const settings = await context.newPage()
    await settings.goto(`${origin}/settings.html`)
    const site = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('A page') })
    const page = await context.newPage()
    await page.goto(`http://localhost:${site.port}/page`)
    await page.bringToFront()
    await settings.evaluate('chrome.action.openPopup()')
    await until('the link', async () => (await ws.api('/links')).json.total === 1)
    const [{ destinationUrl }] = (await ws.api('/links')).json.data
    expect(destinationUrl).toBe(`http://localhost:${site.port}/page`)
    await settings.close()
    await page.close()
    await site.stop(true)
  })
})

onSqlite('the browser extension without the permission for the host', (server) => {
  test('asks for the host of the server, and sends nothing before', async () => {
    const { context, origin } = await openExtension('not-allowed', [])
    const { key, api } = await server().createWorkspace()
    const page = await context.newPage()
    await page.goto(`${origin}/settings.html`)
    const connection = { origin: server().origin, apiKey: key }
    await page.evaluate(`chrome.storage.local.set({ connection: ${JSON.stringify(connection)} })`)
    await page.addInitScript(`chrome.permissions.request = async (asked) => (window.asked = asked, false)`)
    await page.goto(`${origin}/popup.html`)
    await page.getByRole('button', { name: `Allow ${new URL(server().origin).host}` }).click()
    expect(await page.evaluate<object>('window.asked')).toEqual({ origins: ['http://127.0.0.1/*'] })
    expect((await api('/workspace')).json.data.requestsLastMinute).toBe(1)
    await context.close()
  })
})
