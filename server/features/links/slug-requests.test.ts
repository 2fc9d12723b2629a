// A slug is one link, however a browser encodes its path; and no other spelling of a path reaches a link.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { connect, type Socket } from 'node:net'
import fc from 'fast-check'
import { atScale, quick } from '../../../tests/support/suite.ts'
import { onSqlite } from '../../../tests/support/world.ts'
import { findShorterSlugs, findSlugProblem, isPossibleSlug, normalizeSlug, toSlugKey } from './slug.ts'

const EMOJI = [
  '❤️',
  '⭐',
  '©️',
  'ℹ️',
  '😀',
  '1️⃣',
  '*️⃣',
  '👍🏽',
  '☝🏽',
  '🇩🇪',
  '🏴󠁧󠁢󠁥󠁮󠁧󠁿',
  '👩‍❤️‍👨',
  '👁️‍🗨️',
  '🏳️‍🌈',
  '🧑🏽‍⚕️',
  '👨‍👩‍👧‍👦',
]
const LETTERS = [...'aZ7-_.éßΣςếİǰ価한𝒜Ж', 'क्षि', 'ไทย', 'שלום']

const slug = fc
  .array(fc.array(fc.constantFrom(...LETTERS, ...EMOJI), { minLength: 1, maxLength: 5 }), {
    minLength: 1,
    maxLength: 5,
  })
  .map((segments) => normalizeSlug(segments.map((parts) => parts.join('')).join('/')))
  .filter((text) => findSlugProblem(text) === undefined)

const percent = (text: string, toHex: (byte: number) => string) =>
  [...Buffer.from(text)].map((byte) => (byte === 0x2f ? '/' : `%${toHex(byte)}`)).join('')
const upper = (byte: number) => byte.toString(16).toUpperCase().padStart(2, '0')
const lower = (byte: number) => byte.toString(16).padStart(2, '0')

/** Spellings of one path by browsers, people and proxies. */
const WAYS: Record<string, (slug: string) => string> = {
  'raw UTF-8': (text) => text,
  'as browsers encode it': encodeURI,
  'every byte in upper case': (text) => percent(text, upper),
  'every byte in lower case': (text) => percent(text, lower),
  'each second character': (text) => [...text].map((c, i) => (i % 2 ? percent(c, upper) : c)).join(''),
  decomposed: (text) => encodeURI(text.normalize('NFD')),
  'without U+FE0F': (text) => encodeURI(text.replaceAll('\ufe0f', '')),
  'with more U+FE0F': (text) => encodeURI(text.replace(/\p{Emoji_Presentation}/gu, '$&\ufe0f')),
  'in upper case': (text) => encodeURI(text.replace(/[a-z]/g, (letter) => letter.toUpperCase())),
  'with a slash behind': (text) => `${encodeURI(text)}/`,
}

test('each way to write a slug has one key, and may be a link’s', () => {
  fc.assert(
    fc.property(slug, (text) => {
      for (const [way, write] of Object.entries(WAYS)) {
        const written = decodeURI(write(text)).replace(/\/$/, '')
        expect([way, toSlugKey(written), isPossibleSlug(written)]).toEqual([way, toSlugKey(text), true])
        if (way === 'in upper case') continue
        expect([way, toSlugKey(written, true)]).toEqual([way, toSlugKey(text, true)])
      }
      expect(normalizeSlug(text)).toBe(text)
      expect(toSlugKey(toSlugKey(text))).toBe(toSlugKey(text))
    }),
    { numRuns: atScale({ quick: 100, full: 500, soak: 20_000 }) },
  )
})

quick('no text of strangers takes long, or throws', () => {
  const hostile = [
    '👍🏽'.repeat(95),
    '👨‍'.repeat(100),
    '\ufe0f'.repeat(190),
    '1\ufe0f\u20e3'.repeat(63),
    'e\u0301'.repeat(95),
  ]
  for (const text of hostile) for (const end of ['', '!', '\ud800', '/..']) isPossibleSlug(text + end)
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
      isPossibleSlug(text)
      findSlugProblem(normalizeSlug(text))
      toSlugKey(text)
    }),
    { numRuns: atScale({ quick: 200, full: 2_000, soak: 100_000 }) },
  )
})

/** Sends paths over one connection. `TE` makes the fast path hand a request on to the server behind it. */
function openClient(port: number) {
  let socket: Socket | undefined
  const send = (path: Buffer, beside: boolean) =>
    new Promise<{ status: number; location: string | undefined }>((resolve, reject) => {
      let text = ''
      socket = connect(port, '127.0.0.1')
      socket.setEncoding('latin1')
      socket.on('data', (chunk) => {
        text += chunk
      })
      socket.on('error', reject)
      socket.on('close', () =>
        resolve({ status: Number(text.slice(9, 12)), location: /^location: (.*)\r$/im.exec(text)?.[1] }),
      )
      const rest = ` HTTP/1.1\r\nHost: 127.0.0.1\r\n${beside ? 'TE: trailers\r\n' : ''}Connection: close\r\n\r\n`
      socket.write(Buffer.concat([Buffer.from('GET '), path, Buffer.from(rest)]))
    })
  return { send, close: () => socket?.destroy() }
}

onSqlite('a request for a slug', (server) => {
  let client: ReturnType<typeof openClient>
  const links = new Map<string, string>()
  beforeAll(async () => {
    client = openClient(Number(new URL(server().origin).port))
    const ws = await server().createWorkspace()
    const named = ['a', 'b', 'a/b', 'b/a', 'a/a/a', 'a.b', '...', 'é', 'é/a', '❤️', 'a/❤️']
    const random = fc.sample(slug, atScale({ quick: 5, full: 25, soak: 250 }))
    for (const [i, text] of [...named, ...random.map((each, n) => `${n}-${each}`)].entries()) {
      const destinationUrl = `https://example.com/${i}`
      const link = await ws.createLink({ slug: text, destinationUrl })
      links.set(toSlugKey(link.slug), destinationUrl)
      const path = link.slug.split('/').map(encodeURIComponent).join('/')
      expect(link.shortUrl).toBe(`${server().origin}/${path}`)
    }
  })
  afterAll(() => client.close())

  test.each(Object.entries(WAYS))('%s reaches its link, on the fast path and beside it', async (_, write) => {
    for (const [key, destination] of links) {
      const path = Buffer.from(`/${write(key)}`)
      for (const beside of [false, true, false]) {
        expect([key, beside, await client.send(path, beside)]).toEqual([
          key,
          beside,
          { status: 302, location: destination },
        ])
      }
    }
  })

  /** As the URL standard reads the path: its steps are taken, and each segment is decoded by itself. */
  function findDestination(path: string): string | undefined {
    const url = URL.parse(`http://go.example${path}`)
    const segments = url?.pathname.replace(/\/+$/, '').split('/').slice(1)
    try {
      const decoded = segments?.map(decodeURIComponent) ?? ['/']
      // One U+FE0F belongs to an emoji, and none to a letter.
      const isHostile = decoded.some((each) => each.includes('/') || /(?<!❤)\ufe0f/u.test(each))
      if (isHostile) return undefined
      const slug = decoded.join('/')
      // What chat programs glue to a link is cut where no link has the longer name.
      return [slug, ...findShorterSlugs(slug)]
        .map((text) => links.get(toSlugKey(text)))
        .find((found) => found !== undefined)
    } catch {
      return undefined
    }
  }

  const encoded = '%2f %2F %2e %2E%2e %61 %2561 %252f % %zz %5c %00 %c0%af %ed%a0%80 %C3%A9 %EF%B8%8F'.split(
    ' ',
  )
  const token = fc.constantFrom(...'abA//.\\é❤;=+', '..', 'e\u0301', '❤️', '\u200b', '\u202e', ...encoded)

  test('gets its link, or 404, whatever the path is: alike on the fast path and beside it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(token, { minLength: 1, maxLength: 6 }), async (tokens) => {
        const path = `/${tokens.join('')}`
        const quick = await client.send(Buffer.from(path), false)
        expect([path, await client.send(Buffer.from(path), true)]).toEqual([path, quick])
        const destination = findDestination(path)
        const isRoot = URL.parse(`http://go.example${path}`)?.pathname === '/'
        // A path without a slug is the dashboard's, and `+` asks for a preview.
        if (!isRoot && !path.replace(/\/+$/, '').endsWith('+'))
          expect([path, quick.location]).toEqual([path, destination])
        if (destination === undefined && !isRoot) expect([200, 404]).toContain(quick.status)
      }),
      { numRuns: atScale({ quick: 80, full: 400, soak: 20_000 }) },
    )
  })

  test('gets one answer for any bytes', async () => {
    const byte = fc.integer({ min: 1, max: 255 }).filter((each) => ![10, 13, 32].includes(each))
    await fc.assert(
      fc.asyncProperty(fc.array(byte, { maxLength: 20 }), async (bytes) => {
        const path = Buffer.from([0x2f, ...bytes])
        const quick = await client.send(path, false)
        expect(await client.send(path, true)).toEqual(quick)
        expect(quick.status).not.toBe(500)
      }),
      { numRuns: atScale({ quick: 40, full: 200, soak: 10_000 }) },
    )
  })

  describe('an encoded slash', () => {
    test.each('/a%2fb /a%2Fb /a%252fb /a%c0%afb /a%5cb /%2fa/b /a/b%2f /a//b //a /a/%2fb'.split(' '))(
      '%s is no link’s',
      async (path) => {
        expect(await client.send(Buffer.from(path), false)).toEqual({ status: 404, location: undefined })
      },
    )
  })

  test.each([
    ['slashes', `/${'/'.repeat(8_190)}a`],
    ['slashes at the end', `/zz${'/'.repeat(8_189)}`],
    ['segments', '/a'.repeat(4_096)],
    ['one segment', `/${'x'.repeat(8_191)}`],
    ['encoded slashes', `/${'%2f'.repeat(2_730)}`],
    ['steps', `/${'a/../'.repeat(1_638)}zz`],
    ['emoji', `/${'👍🏽'.repeat(1_023)}`],
    ['encoded selectors', `/${'%EF%B8%8F'.repeat(910)}`],
  ])('of 8,192 bytes is no link’s: %s', async (_, path) => {
    for (const beside of [false, true]) {
      expect(await client.send(Buffer.from(path), beside)).toEqual({ status: 404, location: undefined })
    }
  })

  test('shows the preview of several segments', async () => {
    const answer = await server().call('/a/b+')
    expect(answer.status).toBe(200)
    expect(answer.text).toContain(links.get('a/b') as string)
    expect((await server().call('/a+/b')).status).toBe(404)
  })
})
