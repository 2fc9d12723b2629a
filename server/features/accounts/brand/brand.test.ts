// The brand of a workspace and of a form: what may be set, and where visitors and senders see it.

import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { makePng, toDataUrl } from '../../../../tests/support/make-png.ts'
import { withReplies } from '../../../../tests/support/reply-forms.ts'
import { addVerifiedDomain, callHost } from '../../../../tests/support/server/verified-domain.ts'
import { createTeam } from '../../../../tests/support/users/signed-in-user.ts'
import { cleanPng } from './clean-png.ts'
import { contrastWithWhite, toDarker, toLighter } from './contrast.ts'

const HTML = { Accept: 'text/html' }
const POST = { method: 'POST', headers: { ...HTML, 'Content-Type': 'application/x-www-form-urlencoded' } }

describe('colors', () => {
  test('are judged by the contrast of WCAG', () => {
    expect(contrastWithWhite('#ffffff')).toBe(1)
    expect(contrastWithWhite('#000000')).toBe(21)
    expect(contrastWithWhite('#767676')).toBeCloseTo(4.54, 2)
    for (const color of ['#ffcc00', '#00ff00', '#ffffff', '#e91e63', '#777777']) {
      expect(contrastWithWhite(toDarker(color))).toBeGreaterThanOrEqual(4.5)
      expect(toLighter(color)).toMatch(/^#[\da-f]{6}$/)
    }
    expect(toDarker('#17624a')).toBe('#17624a')
  })
})

describe('a PNG', () => {
  test('keeps what draws it, and nothing else', () => {
    const plain = makePng()
    expect(cleanPng(plain)).toEqual(plain)
    expect(cleanPng(makePng({ text: '<script>alert(1)</script>' }))).toEqual(plain)
    expect(cleanPng(Buffer.concat([plain, Buffer.from('PK<script>')]))).toEqual(plain)
    const broken = Buffer.from(plain)
    broken[20] = 99
    const bad = [
      broken,
      plain.subarray(0, -5),
      Buffer.from('<svg/>'),
      Buffer.alloc(0),
      makePng({ width: 1025 }),
    ]
    for (const each of bad) expect(cleanPng(each)).toBeUndefined()
  })
})

withReplies('a brand', (house) => {
  const BRAND = {
    name: 'Boats & Co',
    color: '#7a1f5c',
    senderName: 'Ada from Boats',
    replyTo: 'hello@boats.example',
    footer: 'Boats & Co, Harbor 1\n<b>Kiel</b>',
  }

  async function branded(brand: Record<string, unknown> = BRAND) {
    const team = await createTeam(house().server)
    const patch = (body: unknown) => team.owner.in(team.id).patch('/workspace', body)
    expect((await patch({ brand })).status).toBe(200)
    return { team, patch }
  }

  test('is judged field by field, with what to change', async () => {
    const { patch, team } = await branded()
    const refusals: [Record<string, unknown>, string, RegExp][] = [
      [{ color: '#ffcc00' }, 'brand.color', /contrast of 1\.\d, and needs 4\.5\. Try #[\da-f]{6}$/],
      [{ color: 'red' }, 'brand.color', /./],
      [{ color: '#fff' }, 'brand.color', /./],
      [{ name: 'a\nb' }, 'brand.name', /one line/],
      [{ name: 'x'.repeat(61) }, 'brand.name', /60/],
      [{ senderName: 'Bank <a@b.co>' }, 'brand.senderName', /without @/],
      [{ replyTo: 'a@b.co\r\nBcc: c@d.co' }, 'brand.replyTo', /email/],
      [{ footer: 'x'.repeat(301) }, 'brand.footer', /300/],
      [{ logo: 'data:image/svg+xml;base64,PHN2Zy8+' }, 'brand.logo', /PNG/],
      [{ logo: 'data:image/png;base64,PHN2Zy8+' }, 'brand.logo', /PNG/],
      [{ logo: 'https://evil.example/f/logo/x.png' }, 'brand.logo', /data URL/],
      [{ logo: toDataUrl(makePng({ text: 'x'.repeat(70_000) })) }, 'brand.logo', /./],
      [{ font: 'Inter' }, 'brand.font', /not a known field/],
    ]
    for (const [brand, field, message] of refusals) {
      const { status, json } = await patch({ brand })
      expect([brand, status, Object.keys(json.errors)]).toEqual([brand, 422, [field]])
      expect(json.errors[field]).toMatch(message)
    }
    expect((await team.api('/workspace')).json.data.brand).toEqual({ ...BRAND, logo: null })
    expect((await patch({ brand: { footer: null } })).json.data.brand).toEqual({
      ...BRAND,
      logo: null,
      footer: null,
    })
    expect((await team.patch('/workspace', { brand: null })).status).toBe(403)
    expect(Object.values((await patch({ brand: null })).json.data.brand)).toEqual(Array(6).fill(null))
  })

  test('has a logo that is served as a picture and nothing else, while a brand names it', async () => {
    const { patch } = await branded()
    const { server } = house()
    const { logo } = (await patch({ brand: { logo: toDataUrl(makePng({ text: 'x' })) } })).json.data.brand
    const path = logo.slice(server.origin.length)
    const answer = await fetch(server.origin + path)
    expect(makePng().equals(Buffer.from(await answer.arrayBuffer()))).toBe(true)
    expect(answer.headers.get('content-type')).toBe('image/png')
    expect(answer.headers.get('content-security-policy')).toBe("default-src 'none'; sandbox")
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    // A program sends back what it has read.
    expect((await patch({ brand: { logo } })).json.data.brand.logo).toBe(logo)
    await patch({ brand: { logo: null } })
    expect((await server.call(path)).status).toBe(404)
    for (const other of ['/f/logo/x.png', '/f/logo/', '/f/logo/../../etc/passwd'])
      expect((await server.call(other)).status).toBe(404)
  })

  test('is on every page that visitors get, with a policy that allows its style and its logo only', async () => {
    const { team, patch } = await branded()
    const { server, createForm } = house()
    await patch({ brand: { logo: toDataUrl(makePng()) } })
    const form = await createForm({ afterSubmit: 'hosted', onError: 'hosted', requiredFields: ['x'] }, team)
    const name = `go-${team.id}.example`
    await addVerifiedDomain(server, team.id, name)
    const create = async (fields: object) => {
      const body = { destinationUrl: 'https://example.com/', ...fields }
      return (await team.post('/links', body)).json.data.slug as string
    }
    const past = '2020-01-01T00:00:00Z'
    const pages = {
      password: await server.call(`/${await create({ password: 'x' })}`, { headers: HTML }),
      wrong: await server.call(`/${await create({ password: 'x' })}`, { ...POST, body: 'password=y' }),
      preview: await server.call(`/${await create({})}+`, { headers: HTML }),
      expired: await server.call(`/${await create({ expiresAt: past })}`, { headers: HTML }),
      missing: await callHost(server, name, '/nothing', { headers: HTML }),
      root: await callHost(server, name, '/', { headers: HTML }),
      thanks: await server.call(`/f/${form.key}/thanks`, { headers: HTML }),
      address: await server.call(`/f/${form.key}`, { headers: HTML }),
      mistakes: await server.call(`/f/${form.key}`, { ...POST, body: 'y=1' }),
    }
    for (const [page, { text, headers }] of Object.entries(pages)) {
      expect([page, text.includes('<div class="brand"><img src="/f/logo/')]).toEqual([page, true])
      expect([page, text.includes('alt="Boats &amp; Co"')]).toEqual([page, true])
      expect([
        page,
        text.includes('<footer>Boats &amp; Co, Harbor 1\n&lt;b&gt;Kiel&lt;/b&gt;</footer>'),
      ]).toEqual([page, true])
      expect([page, text.includes('--go: #7a1f5c')]).toEqual([page, true])
      const hashes = [...text.matchAll(/<style>([\s\S]*?)<\/style>/g)].map(
        ([, style]) =>
          `'sha256-${createHash('sha256')
            .update(style ?? '')
            .digest('base64')}'`,
      )
      const policy = headers.get('content-security-policy') ?? ''
      expect([page, hashes.length, policy]).toEqual([
        page,
        2,
        expect.stringContaining(`style-src ${hashes.join(' ')}; img-src 'self'; base-uri 'none'`),
      ])
    }
    // On the default domain a page without a link is nobody's.
    expect((await server.call('/unknown-slug', { headers: HTML })).text).not.toContain('brand')
  })

  test('is on the pages and in the mails of senders; a form can differ', async () => {
    const { team } = await branded()
    const { createForm, settle, server } = house()
    const form = await createForm({}, team)
    await form.submit({ name: 'Ada', email: 'ada@example.com', message: '<b>Hi</b>' })
    const [first] = await settle()
    expect(first?.parsed.from).toMatchObject({ name: 'Ada from Boats', address: 'go@towpath.example' })
    expect(first?.parsed.replyTo).toMatchObject([{ address: 'hello@boats.example' }])
    expect(first?.parsed.text).toContain('-- \nBoats & Co, Harbor 1\n<b>Kiel</b>')
    expect(first?.parsed.html).toContain('background:#7a1f5c')
    expect(first?.parsed.html).toContain('we got: Hi')

    const own = await createForm(
      {
        brand: { name: 'Events', senderName: 'Boats events', color: '#004488', logo: toDataUrl(makePng()) },
        reply: { subject: 'Please confirm', text: 'Press here:\n{{confirm}}', confirm: true },
      },
      team,
    )
    await own.submit({ name: 'Bob', email: 'bob@example.com' })
    const mail = (await settle()).find(({ to: [to] }) => to === 'bob@example.com')
    expect(mail?.parsed.from?.name).toBe('Boats events')
    expect(mail?.parsed.replyTo).toMatchObject([{ address: 'hello@boats.example' }])
    expect(mail?.parsed.html).toContain(`<img src="${server.origin}/f/logo/`)
    const url = /http\S+confirm\S+/.exec(mail?.parsed.text ?? '')?.[0] ?? ''
    expect(mail?.parsed.html).toContain(`<a href="${url}"`)
    const page = await server.call(url.slice(server.origin.length), { headers: HTML })
    expect(page.text).toContain('alt="Events"')
    expect(page.text).toContain('--go: #004488')
    expect(page.text).toContain('<footer>Boats')
    const stop = /<(http\S+\/f\/stop\/[^>]+)>|http\S+\/f\/stop\/\S+/.exec(
      mail?.raw.replace(/\r\n\s+/g, '') ?? '',
    )
    expect(stop).not.toBeNull()
  })

  test('names the workspace in mails where nothing is set', async () => {
    const { createForm, settle } = house()
    const form = await createForm()
    await form.submit({ name: 'Ada', email: 'ada@example.com' })
    const [mail] = await settle()
    expect(mail?.parsed.from).toMatchObject({ name: 'Test', address: 'go@towpath.example' })
    expect(mail?.parsed.html).toBeUndefined()
  })
})
