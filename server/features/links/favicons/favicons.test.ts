// Icons of sites: which bytes are one, where requests do not go, and what is kept for how long.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { parseNetwork } from '../../../lib/ip-network.ts'
import { createFaviconCache } from './favicon-cache.ts'
import { fetchFavicon } from './fetch-favicon.ts'

const ALLOWED = '127.0.0.2'
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const ICO = Buffer.from('AAABAAEAAQEAAAEAIAAwAAAAFgAAAA==', 'base64')
const SVG = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>')
const HTML = { 'Content-Type': 'text/html' }

const answer =
  (body: string | Uint8Array<ArrayBuffer>, type = 'image/png') =>
  () =>
    new Response(body, { headers: { 'Content-Type': type } })
const redirect = (Location: string) => () => new Response(null, { status: 302, headers: { Location } })

let files: Record<string, () => Response> = {}
const requests: string[] = []
let site: ReturnType<typeof Bun.serve>
beforeAll(() => {
  site = Bun.serve({
    port: 0,
    hostname: ALLOWED,
    fetch: ({ url }) => {
      const { pathname } = new URL(url)
      requests.push(pathname)
      return files[pathname]?.() ?? new Response('no', { status: 404, headers: HTML })
    },
  })
})
afterAll(() => site.stop(true))

const needs = {
  site: { isShortHost: (host: string) => host === 'go.example', isBlocked: () => false } as never,
  allow: [parseNetwork(`${ALLOWED}/32`) as never],
}
const fetchFrom = (given: typeof files) => {
  files = given
  return fetchFavicon(needs, `http://${ALLOWED}:${site.port}`)
}
const toUrl = (type: string, bytes: Buffer) => `data:image/${type};base64,${bytes.toString('base64')}`
const named = (link: string) => answer(`<head><link ${link}>`, 'text/html')

test.each([
  ['an icon', { '/favicon.ico': answer(ICO, 'image/x-icon') }, toUrl('x-icon', ICO)],
  ['bytes of a PNG under another type', { '/favicon.ico': answer(PNG, 'text/html') }, toUrl('png', PNG)],
  [
    'an icon after a redirect',
    { '/favicon.ico': redirect('/i.png'), '/i.png': answer(PNG) },
    toUrl('png', PNG),
  ],
  [
    'the icon of the page',
    { '/': named('rel="shortcut icon" href=i.png'), '/i.png': answer(PNG) },
    toUrl('png', PNG),
  ],
  ['an SVG', { '/favicon.ico': answer(SVG, 'image/svg+xml') }, null],
  ['an SVG under another type', { '/favicon.ico': answer(SVG) }, null],
  ['an SVG of the page', { '/': named('rel=icon type=image/svg+xml href=i'), '/i': answer(PNG) }, null],
  ['a page as an icon', { '/favicon.ico': answer('<script>alert(1)</script>') }, null],
  ['a huge icon', { '/favicon.ico': answer(Buffer.concat([PNG, Buffer.alloc(40_000)])) }, null],
  [
    'a huge page',
    { '/': answer(`${' '.repeat(200_000)}<link rel=icon href=i>`, 'text/html'), '/i': answer(PNG) },
    null,
  ],
  ['a script as the icon of the page', { '/': named('rel=icon href="javascript:alert(1)"') }, null],
  ['data as the icon of the page', { '/': named('rel=icon href="data:text/html,x"') }, null],
  ['a redirect to a private address', { '/favicon.ico': redirect('http://127.0.0.1/') }, null],
  ['a redirect to metadata of a cloud', { '/favicon.ico': redirect('http://169.254.169.254/') }, null],
  ['a redirect to a file', { '/favicon.ico': redirect('file:///etc/passwd') }, null],
  ['a redirect to a short link of this server', { '/favicon.ico': redirect('http://go.example/x') }, null],
  ['endless redirects', { '/favicon.ico': redirect('/favicon.ico') }, null],
  ['nothing', {}, null],
])('answers %s', async (_, given: typeof files, icon) => {
  expect(await fetchFrom(given)).toBe(icon)
})

test.each(['http://127.0.0.1', 'http://10.0.0.1', 'http://[::1]', 'http://localhost', 'http://go.example'])(
  'asks nothing of %s',
  async (origin) => {
    requests.length = 0
    expect(await fetchFavicon(needs, origin)).toBe(null)
    expect(requests).toEqual([])
  },
)

test('fetches each site once, keeps what is found, and asks again later where nothing was', async () => {
  let now = 0
  const asked: string[] = []
  const cache = createFaviconCache(
    async (host) => {
      asked.push(host)
      if (host === 'broken.example') throw new Error('gone')
      return host === 'none.example' ? null : `data:${host}`
    },
    () => now,
  )
  const hosts = ['a.example', 'none.example', 'broken.example']
  const find = async () => [...(await cache.find(1, hosts))]
  expect(await find()).toEqual([['a.example', 'data:a.example']])
  expect(await find()).toEqual([['a.example', 'data:a.example']])
  expect(asked).toEqual(hosts)
  now = 2 * 24 * 60 * 60_000
  await find()
  expect(asked.slice(3)).toEqual(['none.example', 'broken.example'])
  now = 9 * 24 * 60 * 60_000
  await find()
  expect(asked.slice(5)).toEqual(hosts)
})

test('does not wait for a slow site, lets four fetches run, and forgets the oldest of many sites', async () => {
  const slow = new Map<string, (icon: string) => void>()
  let asked = 0
  const cache = createFaviconCache(
    (host) => {
      asked++
      return host.startsWith('slow')
        ? new Promise((resolve) => slow.set(host, resolve))
        : Promise.resolve('data:')
    },
    () => 0,
    5,
  )
  const hosts = Array.from({ length: 300 }, (_, n) => `slow${n}.example`)
  expect((await cache.find(1, hosts)).size).toBe(0)
  expect([...slow.keys()]).toEqual(hosts.slice(0, 4))
  // Others have their turn: one fetch ends, and theirs is next.
  const other = cache.find(2, ['a.example'])
  slow.get('slow0.example')?.('data:0')
  expect((await other).size + (await cache.find(1, ['slow0.example'])).size).toBeGreaterThan(0)

  const fast = createFaviconCache(
    async () => `data:${asked++}`,
    () => 0,
  )
  for (let n = 0; n < 11; n++)
    await fast.find(
      1,
      Array.from({ length: 100 }, (_, i) => `h${n * 100 + i}.example`),
    )
  asked = 0
  await fast.find(1, ['h1099.example'])
  expect(asked).toBe(0)
  await fast.find(1, ['h0.example'])
  expect(asked).toBe(1)
})
