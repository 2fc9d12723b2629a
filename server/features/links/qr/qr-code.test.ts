import { beforeAll, expect, test } from 'bun:test'
import jsQR from 'jsqr'
import { PNG } from 'pngjs'
import { makePng, toDataUrl } from '../../../../tests/support/make-png.ts'
import { atScale } from '../../../../tests/support/suite.ts'
import { createTeam } from '../../../../tests/support/users/signed-in-user.ts'
import { onSqlite, type TestWorkspace } from '../../../../tests/support/world.ts'
import type { LinkResource } from '../schema.ts'
import { QR_STYLES } from './schema.ts'

interface Picture {
  width: number
  height: number
  /** RGBA, row by row. */
  data: Uint8ClampedArray
}

const scanned = ({ data, width, height }: Picture) => jsQR(data, width, height)?.data

/** `#rrggbb` of one pixel. */
const colorAt = ({ data, width }: Picture, x: number, y: number) =>
  `#${Buffer.from(data.subarray((y * width + x) * 4, (y * width + x) * 4 + 3)).toString('hex')}`

const colorsOf = ({ data }: Picture) => {
  const hex = (pixel: number) =>
    `#${[0, 8, 16].map((shift) => ((pixel >> shift) & 255).toString(16).padStart(2, '0')).join('')}`
  return [...new Set(new Uint32Array(data.buffer))].map(hex).toSorted()
}

function fromPng(bytes: ArrayBuffer): Picture {
  const { width, height, data } = PNG.sync.read(Buffer.from(bytes))
  return { width, height, data: new Uint8ClampedArray(data) }
}

/** Draws an SVG without round corners: runs of modules, and the large corners, which are squares in squares. */
function fromSvg(svg: string, scale = 4): Picture & { size: number; modules: number } {
  const find = (pattern: RegExp) => pattern.exec(svg)?.[1] ?? ''
  const modules = Number(find(/viewBox="0 0 (\d+)/))
  const margin = Number(find(/translate\((\d+)/))
  const [light, dark] = [...svg.matchAll(/fill="(#[\da-f]{6})"/gi)].map(([, color = '']) =>
    color.toLowerCase(),
  )
  const width = modules * scale
  const data = new Uint8ClampedArray(width * width * 4)
  const paint = (x: number, y: number, w: number, h: number, color = '') => {
    const rgb = [...Buffer.from(color.slice(1), 'hex')]
    for (let row = y * scale; row < (y + h) * scale; row++) {
      for (let column = x * scale; column < (x + w) * scale; column++)
        data.set([...rgb, 255], (row * width + column) * 4)
    }
  }
  paint(0, 0, modules, modules, light)
  const [, runs = '', corners = ''] = [...svg.matchAll(/ d="([^"]*)"/g)].map(([, path = '']) => path)
  const draw = (path: string, toColor: (index: number) => string | undefined) => {
    for (const [index, [, ...box]] of [...path.matchAll(/M(\d+) (\d+)h(\d+)v(\d+)/g)].entries()) {
      const [x = 0, y = 0, w = 0, h = 0] = box.map(Number)
      paint(x + margin, y + margin, w, h, toColor(index))
    }
  }
  draw(runs, () => dark)
  draw(corners, (index) => (index % 3 === 1 ? light : dark))
  return { width, height: width, data, size: Number(find(/ width="(\d+)"/)), modules }
}

/** The same file with other bytes for the pixels, under a right checksum. */
function breakPixels(png: Buffer): Buffer {
  const at = png.indexOf('IDAT')
  const length = png.readUInt32BE(at - 4)
  const broken = Buffer.from(png)
  broken.fill(7, at + 4, at + 4 + length)
  broken.writeUInt32BE(Bun.hash.crc32(broken.subarray(at, at + 4 + length)), at + 4 + length)
  return broken
}

const QR_SIZES = [64, 97, 123, 300, 511, 512, 1000, 2048]

onSqlite('QR codes', (server) => {
  let ws: TestWorkspace
  let link: LinkResource
  const png = async (query: string, id = link.id) => {
    const response = await fetch(`${server().origin}/v1/links/${id}/qr?format=png${query}`, {
      headers: { Authorization: `Bearer ${ws.key}` },
    })
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'image/png'])
    return fromPng(await response.arrayBuffer())
  }
  const svg = async (query: string, id = link.id) => {
    const { status, headers, text } = await ws.api(`/links/${id}/qr${query}`)
    expect([status, headers.get('content-type')]).toEqual([200, 'image/svg+xml'])
    return fromSvg(text)
  }

  beforeAll(async () => {
    ws = await server().createWorkspace()
    link = await ws.createLink({ slug: `Poster-${server().engine}` })
  })

  test('contain the short URL with qr=1, as SVG by default or as PNG', async () => {
    const text = `${link.shortUrl}?qr=1`
    expect(scanned(await svg(''))).toBe(text)
    expect(scanned(await svg('?format=svg'))).toBe(text)
    expect(scanned(await png(''))).toBe(text)
  })

  const LOGO = toDataUrl(makePng({ width: 60, height: 40 }))
  const draw = async (body: object) => {
    const response = await fetch(`${server().origin}/v1/links/qr`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${ws.key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
    return { status: response.status, bytes: await response.arrayBuffer() }
  }

  test('have less ink the rounder their dots are', async () => {
    const inks = QR_STYLES.map(async (dots) => {
      const { bytes } = await draw({ slug: 'not-yet', format: 'png', size: 320, dots })
      return fromPng(bytes).data.reduce((sum, channel) => sum + 255 - channel, 0)
    })
    const [square = 0, rounded = 0, round = 0] = await Promise.all(inks)
    expect([square > rounded, rounded > round, round > square / 2]).toEqual([true, true, true])
  })

  test.each(QR_STYLES)('are read in each shape, with a logo and without one: dots are %s', async (dots) => {
    for (const corners of QR_STYLES)
      for (const logo of [null, LOGO])
        for (const color of dots === corners ? ['000', '767676'] : ['036']) {
          const look = { format: 'png', size: 320, dots, corners, logo, color }
          const { status, bytes } = await draw({ slug: 'not-yet', ...look })
          expect([look, status, scanned(fromPng(bytes))]).toEqual([
            look,
            200,
            `${server().origin}/not-yet?qr=1`,
          ])
        }
  })

  test('take the logo of the workspace, and say where there is none', async () => {
    const other = await createTeam(server())
    const id = (await other.createLink({ slug: 'With-logo' })).id
    const none = await other.api(`/links/${id}/qr?logo=brand`)
    expect([none.status, none.json.errors]).toEqual([422, { logo: expect.stringContaining('has no logo') }])
    const set = await other.owner.in(other.id).patch('/workspace', { brand: { logo: LOGO } })
    expect(set.status).toBe(200)
    const { text } = await other.api(`/links/${id}/qr?logo=brand&dots=dots&corners=rounded`)
    expect(text).toContain('<image ')
    expect(text).toContain(LOGO)
    expect(text.match(/data:/g)).toHaveLength(1)
  })

  test('have room for the logo only in short links, and pixels enough for round dots', async () => {
    const slug = '𝒜'.repeat(190)
    for (const [body, field] of [
      [{ slug, logo: LOGO }, 'logo'],
      [{ slug, dots: 'dots', format: 'png' }, 'size'],
      [{ slug: 'a', corners: 'dots', format: 'png', size: 64 }, 'size'],
      [{ slug: 'a', logo: 'https://example.com/logo.png' }, 'logo'],
      [{ slug: 'a', logo: toDataUrl(makePng({ width: 1025 })) }, 'logo'],
      [{ slug: 'a', logo: toDataUrl(breakPixels(makePng({ width: 64, height: 64 }))) }, 'logo'],
      [{ slug: 'a', dots: 'stars' }, 'dots'],
      [{ slug: 'a', margin: 17 }, 'margin'],
      [{ slug: 'a b' }, 'slug'],
      [{ slug: 'a', domain: 'not-ours.example' }, 'domain'],
    ] as const) {
      const { status, bytes } = await draw(body)
      expect([field, status, Object.keys(JSON.parse(Buffer.from(bytes).toString()).errors)]).toEqual([
        field,
        422,
        [field],
      ])
    }
  })

  test('redirect to the destination', async () => {
    const text = scanned(await png('')) ?? ''
    const { status, headers } = await server().call(text.slice(server().origin.length))
    expect([status, headers.get('location')]).toEqual([302, link.destinationUrl])
  })

  test('have 512 pixels, a quiet zone of four modules, and black on white by default', async () => {
    const picture = await png('')
    expect([picture.width, picture.height]).toEqual([512, 512])
    expect(colorsOf(picture)).toEqual(['#000000', '#ffffff'])
    const drawn = await svg('')
    expect([drawn.size, colorsOf(drawn)]).toEqual([512, ['#000000', '#ffffff']])
    const none = await svg('?margin=0')
    expect(drawn.modules - none.modules).toBe(8)
    expect([
      colorAt(none, 0, 0),
      colorAt(drawn, 0, 0),
      colorAt(drawn, 4 * 4 - 1, 4 * 4),
      colorAt(drawn, 4 * 4, 4 * 4),
    ]).toEqual(['#000000', '#ffffff', '#ffffff', '#000000'])
  })

  test.each(atScale({ quick: [64, 123, 2048], full: QR_SIZES, soak: QR_SIZES }))(
    'are exactly %d pixels wide when asked for',
    async (size) => {
      const picture = await png(`&size=${size}`)
      expect([picture.width, picture.height]).toEqual([size, size])
      if (size >= 123 && size <= 512) expect(scanned(picture)).toBe(`${link.shortUrl}?qr=1`)
      expect((await svg(`?size=${size}`)).size).toBe(size)
    },
  )

  test.each([
    ['color=1a2b3c&background=F0F0F0', ['#1a2b3c', '#f0f0f0']],
    ['color=%231a2b3c', ['#1a2b3c', '#ffffff']],
    ['color=036&background=fed', ['#003366', '#ffeedd']],
  ])('take colors: %s', async (query, colors) => {
    for (const picture of [await png(`&${query}`), await svg(`?${query}`)]) {
      expect([colorsOf(picture), scanned(picture)]).toEqual([colors, `${link.shortUrl}?qr=1`])
    }
  })

  test('hold the longest slugs', async () => {
    const longest = ['𝒜'.repeat(190), '価'.repeat(190)]
    for (const slug of longest.slice(0, atScale({ quick: 1, full: 2, soak: 2 }))) {
      const long = await ws.createLink({ slug })
      const wide = fromSvg((await ws.api(`/links/${long.id}/qr`)).text, 3)
      expect(scanned(wide)).toBe(`${long.shortUrl}?qr=1`)
      expect((await png('&size=400', long.id)).width).toBe(400)
      // A size of less than one pixel for each module is refused.
      const { status, json } = await ws.api(`/links/${long.id}/qr?format=png&size=100`)
      expect([status, json.errors]).toEqual([
        422,
        { size: expect.stringMatching(/^must be at least \d+ for this link and margin$/) },
      ])
      const least = Number(/\d+/.exec(json.errors.size)?.[0])
      expect((await png(`&size=${least}`, long.id)).width).toBe(least)
      expect((await ws.api(`/links/${long.id}/qr?size=100`)).status).toBe(200)
    }
  })

  test.each([
    ['format=gif', 'format'],
    ['size=63', 'size'],
    ['size=2049', 'size'],
    ['size=big', 'size'],
    ['margin=17', 'margin'],
    ['margin=-1', 'margin'],
    ['color=red', 'color'],
    ['color=1a2b3', 'color'],
    ['color=1a2b3c4d', 'color'],
    ['background="/><script>', 'background'],
    ['color=000&color=fff', 'color'],
    ['level=H', 'level'],
    ['dots=round', 'dots'],
    ['corners=', 'corners'],
    ['logo=https://example.com/logo.png', 'logo'],
  ])('refuse %s, and name the parameter', async (query, name) => {
    const { status, json } = await ws.api(`/links/${link.id}/qr?${query}`)
    expect([status, Object.keys(json.errors)]).toEqual([422, [name]])
  })

  test.each([
    [
      'color=fff',
      { color: expect.stringMatching(/^must be darker: the contrast is 1:1, and phones need 3:1$/) },
    ],
    ['background=000', { background: expect.stringContaining('must be lighter') }],
    ['color=777&background=555', { color: expect.stringContaining('must be lighter') }],
    ['color=ffff00', { color: expect.stringContaining('must be darker') }],
    ['color=00ff00&background=fff', { color: expect.stringContaining('1.3:1') }],
    ['color=959595', { color: expect.stringContaining('2.9:1') }],
    ['color=f00&background=00f', { color: expect.stringContaining('must be lighter') }],
    ['color=949494&dots=dots', { color: expect.stringContaining('phones need 4.5:1') }],
    ['color=fff&background=555', { color: expect.stringContaining('phones need 12:1') }],
    ['color=fff&background=000&margin=0', { margin: expect.stringContaining('swap color and background') }],
    ['color=ffd&background=036&margin=3', { margin: expect.stringContaining('at least 4') }],
  ])('are refused where no phone reads them, with what to change: %s', async (query, errors) => {
    for (const format of ['svg', 'png']) {
      const { status, json } = await ws.api(`/links/${link.id}/qr?${query}&format=${format}`)
      expect([status, json.errors]).toEqual([422, errors])
    }
  })

  test.each(['color=fff&background=000', 'color=949494', 'background=5a5a5a', 'color=036&margin=0'])(
    'are made where a phone reads them: %s',
    async (query) => expect((await ws.api(`/links/${link.id}/qr?${query}`)).status).toBe(200),
  )
})
