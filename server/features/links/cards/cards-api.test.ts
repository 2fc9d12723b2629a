import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { until } from '../../../../tests/support/until.ts'
import {
  addToWorkspace,
  createSignedInUser,
  createTeam,
} from '../../../../tests/support/users/signed-in-user.ts'
import { onSqlite, startServer, type TestWorkspace } from '../../../../tests/support/world.ts'
import { parseNetwork } from '../../../lib/ip-network.ts'
import { fetchDestinationCard } from './fetch-destination-card.ts'

/** The operator allows one private address. Everything else on this machine is out of reach. */
const ALLOWED = '127.0.0.2'
const environment = { WEBHOOK_ALLOW_CIDRS: `${ALLOWED}/32` }

const HTML = { 'Content-Type': 'text/html; charset=utf-8' }
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const CARD = `<title>Page</title>
<meta property="og:title" content="Spring &amp; summer">
<meta property="og:description" content="Washed, from Huila.">
<meta property="og:image" content="https://cdn.example.com/card.png">
<meta property="og:site_name" content="Larkfield">`

type Page = () => Response | Promise<Response>
const page = (html: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = HTML): Page => {
  return () => new Response(html, { headers })
}
const redirect = (Location: string): Page => {
  return () => new Response(null, { status: 302, headers: { Location } })
}

const pages: Record<string, Page> = {
  '/card': page(CARD),
  '/moved': redirect('/moved-again'),
  '/moved-again': redirect('/card'),
  '/loop': redirect('/loop'),
  '/to-private': redirect('http://127.0.0.1:1/'),
  '/to-metadata': redirect('http://169.254.169.254/latest/meta-data/'),
  '/to-file': redirect('file:///etc/passwd'),
  '/to-credentials': redirect('http://me:secret@example.com/'),
  '/plain': page('<p>Nothing here'),
  '/http-image': page(
    '<title>x</title><meta name=description content=y><meta property=og:image content=/a.png>',
  ),
  '/own-image': page(`<meta property=og:image content="javascript:alert(1)">`),
  '/long': page(`<title>${'é'.repeat(300)}</title><meta name=description content="${'🌱'.repeat(300)}">`),
  '/data': () => Response.json({ title: 'no' }),
  '/zip': page(CARD, { ...HTML, 'Content-Encoding': 'br' }),
  '/cyrillic': page(Buffer.from([...Buffer.from('<title>'), 0xcf, 0xf0, 0xe8]), {
    'Content-Type': 'text/html; charset=windows-1251',
  }),
  '/cyrillic-meta': page(
    Buffer.from([...Buffer.from('<meta charset="windows-1251"><title>'), 0xcf, 0xf0, 0xe8]),
    { 'Content-Type': 'text/html' },
  ),
  '/late': page(`${' '.repeat(600 * 1024)}${CARD}`),
  '/error': () => new Response(CARD, { status: 500, headers: HTML }),
  '/image.png': page(PNG, { 'Content-Type': 'image/png' }),
  '/image-as-text': page(PNG, { 'Content-Type': 'text/plain' }),
  '/html-as-image': page('<script>alert(1)</script>', { 'Content-Type': 'image/png' }),
  '/picture.svg': page('<svg xmlns="http://www.w3.org/2000/svg"/>', { 'Content-Type': 'image/svg+xml' }),
  '/huge.png': page(Buffer.concat([PNG, Buffer.alloc(5 * 1024 * 1024)]), { 'Content-Type': 'image/png' }),
}

let site: ReturnType<typeof Bun.serve>
const requests: string[] = []
beforeAll(() => {
  site = Bun.serve({
    port: 0,
    hostname: ALLOWED,
    fetch(request) {
      const { pathname } = new URL(request.url)
      requests.push(`${request.method} ${pathname} ${request.headers.get('user-agent')}`)
      return pages[pathname]?.() ?? new Response('Not here', { status: 404, headers: HTML })
    },
  })
})
afterAll(() => site?.stop(true))
const at = (path: string) => `http://${ALLOWED}:${site.port}${path}`

onSqlite(
  'The card of a destination',
  (server) => {
    let ws: TestWorkspace
    beforeAll(async () => {
      ws = await server().createWorkspace()
    })
    const read = async (url: string) => {
      const answer = await ws.post('/links/destination-card', { url })
      return {
        ...answer,
        codes: (answer.json.data?.findings ?? []).map(({ code }: { code: string }) => code),
      }
    }

    test('is read from its page, after redirects', async () => {
      const card = {
        title: 'Spring & summer',
        description: 'Washed, from Huila.',
        image: 'https://cdn.example.com/card.png',
        siteName: 'Larkfield',
        findings: [],
      }
      for (const path of ['/card', '/moved']) {
        const { status, json } = await read(at(path))
        expect([status, json]).toEqual([200, { data: { url: at('/card'), ...card } }])
      }
      expect(requests.at(-1)).toBe('GET /card Towpath card preview')
    })

    const NOTHING = { title: null, description: null, image: null, siteName: null }
    test.each([
      ['/loop', ['too_many_redirects'], null],
      ['/to-private', ['private_address'], null],
      ['/to-metadata', ['private_address'], null],
      ['/to-file', ['redirect_refused'], null],
      ['/to-credentials', ['redirect_refused'], null],
      ['/nothing', ['status'], null],
      ['/error', ['status'], null],
      ['/data', ['not_html'], '/data'],
      ['/zip', ['compressed'], '/zip'],
      ['/plain', ['no_card'], '/plain'],
      // At most 512 KB are read.
      ['/late', ['no_card'], '/late'],
    ])('is empty, with the reason: %s', async (path, codes, url) => {
      const answer = await read(at(path))
      expect([answer.status, answer.codes]).toEqual([200, codes])
      expect(answer.json.data).toMatchObject({ ...NOTHING, url: url && at(url) })
      for (const { message } of answer.json.data.findings) expect(message).toMatch(/^[A-Z].*\.$/)
    })

    test('leads neither to private addresses nor back to this server', async () => {
      const { host } = new URL(server().origin)
      pages['/to-us'] = redirect(`${server().origin}/v1/openapi.json`)
      expect((await read(at('/to-us'))).codes).toEqual(['redirect_refused'])
      expect((await read(`http://${host}/`)).json.errors).toEqual({
        url: 'must not point to a short domain of this server',
      })
      for (const url of [
        'http://127.0.0.1:1/',
        'http://[::1]/',
        'http://10.0.0.1/',
        'http://169.254.169.254/',
      ])
        expect([url, (await read(url)).codes]).toEqual([url, ['private_address']])
      for (const url of ['file:///etc/passwd', 'gopher://example.com/', 'not a url'])
        expect((await read(url)).json.errors).toEqual({ url: 'must be an http or https URL' })
    })

    test('fits into the fields of a link', async () => {
      const { title, description } = (await read(at('/long'))).json.data
      expect([title, description]).toEqual([`${'é'.repeat(119)}…`, `${'🌱'.repeat(239)}…`])
      await ws.createLink({ previewTitle: title, previewDescription: description })
    })

    test('names an image that a link cannot have', async () => {
      const { codes, json } = await read(at('/http-image'))
      expect(codes).toEqual(['image_unusable'])
      expect(json.data).toMatchObject({ title: 'x', description: 'y', image: null })
      expect((await read(at('/own-image'))).codes).toEqual(['no_title', 'no_description', 'image_unusable'])
    })

    test('is decoded as the page says', async () => {
      for (const path of ['/cyrillic', '/cyrillic-meta'])
        expect([path, (await read(at(path))).json.data.title]).toEqual([path, 'При'])
    })

    test('is for members who may change links', async () => {
      const team = await createTeam(server())
      const vera = await createSignedInUser(server(), 'Vera')
      await addToWorkspace(server(), team.id, vera, 'viewer')
      for (const path of ['/links/destination-card', '/links/card-image']) {
        const asked = requests.length
        const answer = await vera.in(team.id).post(path, { url: at('/card') })
        expect([path, answer.status, requests.length]).toEqual([path, 403, asked])
      }
    })
  },
  { environment },
)

onSqlite(
  'The image of a card',
  (server) => {
    let ws: TestWorkspace
    beforeAll(async () => {
      ws = await server().createWorkspace()
    })
    const fetchImage = (path: string) => ws.post('/links/card-image', { url: at(path) })

    test('comes whole, with the type of its bytes', async () => {
      for (const path of ['/image.png', '/image-as-text']) {
        const { status, json } = await fetchImage(path)
        const dataUrl = `data:image/png;base64,${PNG.toString('base64')}`
        expect([status, json.data]).toEqual([200, { dataUrl, findings: [] }])
      }
    })

    test.each([
      ['/html-as-image', 'not_image'],
      ['/picture.svg', 'not_image'],
      ['/huge.png', 'too_large'],
      ['/nothing', 'status'],
      ['/to-private', 'private_address'],
      ['/to-file', 'redirect_refused'],
    ])('is refused with the reason: %s', async (path, code) => {
      const { status, json } = await fetchImage(path)
      const findings = [{ code, message: expect.stringMatching(/^[A-Z].*\.$/) }]
      expect([status, json.data]).toEqual([200, { dataUrl: null, findings }])
    })
  },
  { environment },
)

describe('Fetches of pages', () => {
  test('are limited to 60 in a minute for each workspace, cards and images together', async () => {
    const server = await startServer('sqlite', { environment })
    try {
      const [ws, other] = [await server.createWorkspace(), await server.createWorkspace()]
      const read = (workspace: TestWorkspace, path = '/links/destination-card') =>
        workspace.post(path, { url: at('/plain') })
      // A page that must not be fetched counts too, and is quick.
      const ask = () => ws.post('/links/destination-card', { url: 'http://127.0.0.1:1/' })
      const answers = await Promise.all(Array.from({ length: 58 }, ask))
      answers.push(await read(ws), await read(ws, '/links/card-image'))
      expect([...new Set(answers.map(({ status }) => status))]).toEqual([200])
      const refused = await read(ws)
      expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true])
      expect((await read(other)).status).toBe(200)
    } finally {
      await server.close()
    }
  })

  test('end in time, whatever the other server does, and are few at once', async () => {
    const server = await startServer('sqlite', { environment })
    const hang = Promise.withResolvers<void>()
    pages['/hang'] = () => hang.promise.then(page('<title>x</title>'))
    try {
      const ws = await server.createWorkspace()
      const { site } = server.app
      const needs = {
        site,
        allow: [parseNetwork(`${ALLOWED}/32`)].filter((network) => network !== undefined),
      }
      const actor = { kind: 'operator', workspaceId: ws.id, plan: 'enterprise', keyId: null } as const
      const limit = <T>(_: number, run: () => Promise<T>) => run()
      const slow = await fetchDestinationCard({ ...needs, limit, timeMaxMs: 200 }, actor, at('/hang'))
      expect(slow.findings).toEqual([
        { code: 'unreachable', message: 'It did not answer within 0.2 seconds.' },
      ])

      const before = requests.length
      const read = () => ws.post('/links/destination-card', { url: at('/hang') })
      const answers = Promise.all(Array.from({ length: 10 }, read))
      const waiting = () => requests.length - before
      await until('eight requests', () => waiting() === 8)
      hang.resolve()
      expect((await answers).map(({ status }) => status).filter((status) => status === 429)).toHaveLength(2)
      expect(waiting()).toBe(8)
    } finally {
      await server.close()
    }
  })
})
