import { describe, expect, test } from 'bun:test'
import { onBothEngines, startServer, type TestWorkspace } from '../../../tests/support/world.ts'

const NOT_WEB = 'must be an http or https URL'
const CREDENTIALS = 'must not contain a user name or password'
const OWN = 'must not point to a short domain of this server'

/**
 * `{own}` is the server's host with its port, `{name}` and `{port}` are its parts. lib/web-url.test.ts has all
 * spellings.
 */
const REFUSED: [url: string, wrong: string][] = [
  ['javascript:alert(1)', NOT_WEB],
  ['java\nscript:alert(1)', NOT_WEB],
  ['data:text/html,hi', NOT_WEB],
  ['vbscript:x', NOT_WEB],
  ['file:///etc/passwd', NOT_WEB],
  ['myapp://open', NOT_WEB],
  ['//evil.example', NOT_WEB],
  ['\\\\evil.example', NOT_WEB],
  ['https://user:word@example.com/', CREDENTIALS],
  ['https://{own}@evil.example/', CREDENTIALS],
  [
    `https://example.com/${'a'.repeat(8193 - 'https://example.com/'.length)}`,
    'must be at most 8192 characters',
  ],
  ['http://{own}/abc', OWN],
  ['http:\\\\{own}\\abc', OWN],
  ['http://\t{own}/\nabc', OWN],
  ['http://{name}.:{port}/abc', OWN],
  ['http://LOCALHOST:{port}/abc', OWN],
  ['http://2130706433:{port}/abc', OWN],
  ['http://[::1]:{port}/abc', OWN],
  ['http://[0:0:0:0:0:0:0:1]:{port}/abc', OWN],
]

const FIELDS: [field: string, body: (url: string) => Record<string, unknown>][] = [
  ['destinationUrl', (url) => ({ destinationUrl: url })],
  ['expiredUrl', (url) => ({ expiredUrl: url })],
  ['geoTargeting.DE', (url) => ({ geoTargeting: { DE: url } })],
  ['deviceTargeting.ios', (url) => ({ deviceTargeting: { ios: url } })],
]

onBothEngines('the destination of a link', (server) => {
  test.each(FIELDS)('%s follows the rules for destinations', async (field, body) => {
    const ws = await server().createWorkspace()
    const { host, hostname, port } = new URL(server().origin)
    const link = await ws.createLink()
    for (const [template, wrong] of REFUSED) {
      const url = template.replace('{own}', host).replace('{name}', hostname).replace('{port}', port)
      const create = await ws.post('/links', { destinationUrl: 'https://example.com/', ...body(url) })
      expect([url, create.status, create.json.errors]).toEqual([url, 422, { [field]: wrong }])
      const change = await ws.patch(`/links/${link.id}`, body(url))
      expect([url, change.status, change.json.errors]).toEqual([url, 422, { [field]: wrong }])
    }
    expect((await ws.api('/links')).json).toMatchObject({ total: 1, data: [link] })
  })

  test('names every wrong URL of a request', async () => {
    const ws = await server().createWorkspace()
    const bad = 'javascript:1'
    const { json } = await ws.post('/links', {
      destinationUrl: bad,
      expiredUrl: bad,
      geoTargeting: { de: bad },
      deviceTargeting: { ios: bad, desktop: bad },
    })
    expect(Object.keys(json.errors)).toEqual(
      'destinationUrl expiredUrl geoTargeting.de deviceTargeting.ios deviceTargeting.desktop'.split(' '),
    )
  })

  test('may have exactly 8,192 characters', async () => {
    const ws = await server().createWorkspace()
    const url = `https://example.com/${'a'.repeat(8192 - 'https://example.com/'.length)}`
    expect((await ws.createLink({ destinationUrl: url })).destinationUrl).toBe(url)
  })
})

describe('deep links', () => {
  test('are accepted only when the operator lists their scheme', async () => {
    const server = await startServer('sqlite', { environment: { DESTINATION_SCHEMES: 'myapp, tel' } })
    try {
      const ws = await server.createWorkspace()
      const link = await ws.createLink({
        destinationUrl: 'MyApp://open/1?x=2',
        deviceTargeting: { ios: 'tel:+491' },
        utmSource: 'mail',
      })
      expect(link).toMatchObject({
        destinationUrl: 'myapp://open/1?x=2&utm_source=mail',
        deviceTargeting: { ios: 'tel:+491' },
      })
      expect(
        (await server.click(link.slug, { 'User-Agent': 'Mozilla/5.0 (Windows NT 10.0)' })).headers.get(
          'location',
        ),
      ).toBe(link.destinationUrl)
      for (const url of ['other://open', 'javascript:alert(1)']) {
        const { status, json } = await ws.post('/links', { destinationUrl: url })
        expect([status, json.errors.destinationUrl]).toEqual([
          422,
          'must be an http or https URL (or myapp:, tel:)',
        ])
      }
    } finally {
      await server.close()
    }
  })
})

onBothEngines('UTM fields', (server) => {
  const U = 'https://example.com/'
  const made = async (ws: TestWorkspace, body: Record<string, unknown>) =>
    (await ws.createLink(body)).destinationUrl

  test('are written into the destination, and keep the rest of its query', async () => {
    const ws = await server().createWorkspace()
    expect(
      await made(ws, {
        destinationUrl: `${U}?q=a%20b+c&x=%7e&utm_medium=old&y#top`,
        utmSource: 'news letter',
        utmMedium: 'e-mail',
        utmCampaign: 'spring & summer',
        utmTerm: 'ä',
        utmContent: 'a=b#c',
      }),
    ).toBe(
      `${U}?q=a%20b+c&x=%7e&utm_medium=e-mail&y&utm_source=news+letter&utm_campaign=spring+%26+summer&utm_term=%C3%A4&utm_content=a%3Db%23c#top`,
    )
  })

  test('can be changed and removed without a new destination', async () => {
    const ws = await server().createWorkspace()
    const link = await ws.createLink({
      destinationUrl: `${U}?a=%20&utm_term=keep#f`,
      utmSource: 'one',
      utmMedium: 'web',
    })
    const patch = async (body: object) => (await ws.patch(`/links/${link.id}`, body)).json.data.destinationUrl
    expect(await patch({ utmSource: 'two' })).toBe(`${U}?a=%20&utm_term=keep&utm_source=two&utm_medium=web#f`)
    expect(await patch({ utmSource: null })).toBe(`${U}?a=%20&utm_term=keep&utm_medium=web#f`)
    expect(await patch({ title: 'x' })).toBe(`${U}?a=%20&utm_term=keep&utm_medium=web#f`)
    expect(await patch({ destinationUrl: `${U}?utm_source=theirs`, utmTerm: 't' })).toBe(
      `${U}?utm_source=theirs&utm_term=t`,
    )
    expect(await patch({ utmSource: null, utmTerm: null })).toBe(U)
  })

  test('are refused when they make the destination too long', async () => {
    const ws = await server().createWorkspace()
    const long = `${U}${'a'.repeat(8192 - U.length)}`
    const link = await ws.createLink({ destinationUrl: long })
    const wrong = { destinationUrl: 'must be at most 8192 characters' }
    const create = await ws.post('/links', { destinationUrl: long, utmSource: 'x' })
    expect([create.status, create.json.errors]).toEqual([422, wrong])
    const change = await ws.patch(`/links/${link.id}`, { utmSource: 'x' })
    expect([change.status, change.json.errors]).toEqual([422, wrong])
    expect((await ws.api('/links')).json.data).toEqual([link])
  })
})
