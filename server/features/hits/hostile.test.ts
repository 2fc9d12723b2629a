import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createMaxMindFile } from '../../../tests/support/maxmind-file.ts'
import { startServer, type TestServer, type TestWorkspace } from '../../../tests/support/world.ts'

// Text that tries to break out of HTML, SQL, JSON, CSV, a terminal, a line, or the direction of reading.
const HOSTILE = [
  '"><img src=x onerror=alert(1)>',
  "'; DROP TABLE hits; --",
  '\\"\\\\u0000',
  '=HYPERLINK("http://evil.example")',
  '\u202egnp.exe',
  '\u001b[2J\u0007',
  'two\r\nlines\u2028three',
  '😀 ünï',
]
/** NUL and halves of characters are never stored. All other text comes back as it was sent. */
const UNSTORABLE = ['a\0b', '\0']

const CITY = `São "Paulo"${'\u202e'}<b>\0${'x'.repeat(200)}`
const dir = mkdtempSync(join(tmpdir(), 'towpath-hostile-'))
const geoip = join(dir, 'city.mmdb')
writeFileSync(
  geoip,
  createMaxMindFile({
    '203.0.113.0/24': {
      continent: { code: 'SA' },
      country: { iso_code: 'BR' },
      city: { names: { en: CITY } },
      subdivisions: [{ iso_code: "S'P" }],
    },
  }),
)

let server: TestServer
beforeAll(async () => {
  server = await startServer('sqlite', { environment: { GEOIP_DB: geoip, TRUST_PROXY: '127.0.0.1' } })
}, 120_000)
afterAll(async () => {
  await server?.close()
  rmSync(dir, { recursive: true })
})

async function grouped(ws: TestWorkspace, by: string, query = '') {
  const { status, headers, json } = await ws.api(`/analytics/clicks?groupBy=${by}${query}`)
  expect([status, headers.get('content-type')]).toEqual([200, expect.stringContaining('application/json')])
  return json.data as Record<string, unknown>[]
}
const keys = async (ws: TestWorkspace, by: string) => (await grouped(ws, by)).map((row) => row[by])

/** Sends bytes that no browser would send. Resolves with the status line. */
function raw(bytes: string | Buffer): Promise<string> {
  const { hostname, port } = new URL(server.origin)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(bytes))
    socket.once('data', (data) => {
      resolve(data.toString('latin1').split('\r\n')[0] ?? '')
      socket.destroy()
    })
    socket.once('close', () => resolve('closed'))
    socket.once('error', reject)
  })
}

describe('hostile text in a click', () => {
  const parameters = ['utmSource', 'utmMedium', 'utmCampaign', 'utmTerm', 'utmContent']
  const wire = (name: string) => `utm_${name.slice(3).toLowerCase()}`

  test.each(parameters)('comes back from %s as it was sent, and filters find it', async (name) => {
    const ws = await server.createWorkspace()
    const { slug } = await ws.createLink()
    for (const text of [...HOSTILE, ...UNSTORABLE])
      expect((await server.click(`${slug}?${wire(name)}=${encodeURIComponent(text)}`)).status).toBe(302)
    await server.waitUntilShipped()
    const rows = await grouped(ws, name)
    const texts = [...HOSTILE, 'ab', 'Unknown']
    expect(rows.map((row) => row[name]).sort()).toEqual(texts.sort())
    expect(rows.every((row) => row.clicks === 1)).toBe(true)
    for (const text of HOSTILE) {
      const filter = `&${name}=${encodeURIComponent(text.replace(/[\\,]/g, '\\$&'))}`
      expect(await grouped(ws, name, filter)).toEqual([{ [name]: text, clicks: 1, visitors: 1 }])
    }
  })

  test('is cut to its limit, between characters', async () => {
    const ws = await server.createWorkspace()
    const { slug } = await ws.createLink()
    const long = `${'x'.repeat(255)}😀${'y'.repeat(2000)}`
    expect((await server.click(`${slug}?utm_source=${encodeURIComponent(long)}`)).status).toBe(302)
    expect((await server.click(slug, { Referer: `https://x.example/${'p'.repeat(9000)}` })).status).toBe(302)
    await server.waitUntilShipped()
    expect(await keys(ws, 'utmSource')).toEqual(['Unknown', 'x'.repeat(255)].sort())
    expect((await keys(ws, 'referrerUrl')).map((key) => String(key).length).sort()).toEqual([512, 8])
  })

  test('of 100 kB is rejected or cut, and the next click counts', async () => {
    const ws = await server.createWorkspace()
    const { slug } = await ws.createLink()
    const huge = 'u'.repeat(100_000)
    const lines = [
      `GET /${slug}?utm_source=${huge} HTTP/1.1`,
      `GET /${slug} HTTP/1.1\r\nReferer: https://x.example/${huge}`,
      `GET /${slug} HTTP/1.1\r\nUser-Agent: ${huge}`,
    ]
    for (const line of lines)
      expect(await raw(`${line}\r\nHost: x\r\nConnection: close\r\n\r\n`)).toMatch(
        /^HTTP\/1.1 (302|414|431)|^closed/,
      )
    // The destination is the owner's text, and may be long.
    const destination = `https://example.com/?utm_campaign=${'c'.repeat(7000)}`
    const other = await ws.createLink({ destinationUrl: destination })
    expect((await server.click(other.slug)).headers.get('location')).toBe(destination)
    await server.waitUntilShipped()
    expect(await keys(ws, 'utmCampaign')).toContain('c'.repeat(256))
  })

  test('in headers that no browser sends still makes a click, or is rejected', async () => {
    const ws = await server.createWorkspace()
    const { slug } = await ws.createLink()
    const strange = Buffer.concat([
      Buffer.from(`GET /${slug}?utm_source=`),
      Buffer.from([0xff, 0xfe, 0x80, 0xc3]),
      Buffer.from(' HTTP/1.1\r\nHost: x\r\nUser-Agent: '),
      Buffer.from([0xe2, 0x28, 0xa1, 0xf0, 0x9f]),
      Buffer.from('\r\nReferer: https://'),
      Buffer.from([0xe9, 0x80]),
      Buffer.from('.example/\r\nConnection: close\r\n\r\n'),
    ])
    expect(await raw(strange)).toMatch(/^HTTP\/1.1 (302|4\d\d)|^closed/)
    expect((await server.click(slug)).status).toBe(302)
    await server.waitUntilShipped()
    for (const by of [
      ...parameters,
      'referrer',
      'referrerUrl',
      'device',
      'browser',
      'os',
      'country',
      'trigger',
    ])
      for (const key of await keys(ws, by)) expect(String(key).isWellFormed()).toBe(true)
  })

  test('in a referrer becomes a host and a URL, or null', async () => {
    const ws = await server.createWorkspace()
    const { slug } = await ws.createLink()
    const referrers = [
      'https://www.evil.example/"><script>?token=secret#x',
      'javascript:alert(1)',
      'https://evil.example@good.example/',
      "https://x.example/';DROP TABLE hits",
      `${server.origin}/other?secret=1`,
    ]
    for (const referrer of referrers) await server.click(slug, { Referer: referrer })
    await server.waitUntilShipped()
    expect((await keys(ws, 'referrer')).sort()).toEqual([
      '(direct)',
      'evil.example',
      'good.example',
      'x.example',
    ])
    const urls = await keys(ws, 'referrerUrl')
    expect(urls.sort()).toEqual(
      [
        '(direct)',
        'https://www.evil.example/%22%3E%3Cscript%3E',
        'https://good.example/',
        "https://x.example/';DROP%20TABLE%20hits",
      ].sort(),
    )
    expect(JSON.stringify(urls)).not.toContain('secret')
  })

  test('in a database of places is cut like any other text', async () => {
    const ws = await server.createWorkspace()
    const { slug } = await ws.createLink()
    expect((await server.click(slug, { 'X-Forwarded-For': '203.0.113.9' })).status).toBe(302)
    expect((await server.click(slug, { 'X-Forwarded-For': '198.51.100.9' })).status).toBe(302)
    await server.waitUntilShipped()
    const city = CITY.slice(0, 128).replace('\0', '')
    const places = { country: 'BR', continent: 'SA', region: "S'P", city }
    for (const [by, key] of Object.entries(places)) {
      expect((await keys(ws, by)).sort()).toEqual(['Unknown', key].sort())
      const found = await grouped(ws, by, `&${by}=${encodeURIComponent(key)}`)
      expect(found).toEqual([{ [by]: key, clicks: 1, visitors: 1 }])
    }
  })
})
